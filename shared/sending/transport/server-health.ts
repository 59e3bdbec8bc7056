import type { SmtpUnavailableError } from './errors.ts';
import type { SmtpOutcome, SmtpStage } from './message.ts';
import type { RelayState } from './relay-state.ts';
import type { SmtpServerOptions } from './smtp-url.ts';

/** The state of a server of a pool. */
export interface PoolServer {
  readonly options: SmtpServerOptions;
  /** Connections open or being opened. */
  connections: number;
  /** How many of them are being opened. */
  openings: number;
  /** Openings that failed in a row. */
  failures: number;
  /** No connection is tried before this time, in milliseconds since 1970. */
  downUntil: number;
  /** The search in which it failed, see `beginSearch`. */
  failedIn: number;
  /** Messages in a row under which its connections broke, and when the last one did. */
  interruptions: number;
  interruptedAt: number;
  /** Connections ever opened. */
  uses: number;
  /** Whether its latest connection is unencrypted and leaves this machine; undefined before the first. */
  isInClear: boolean | undefined;
  /** The number of messages by outcome. */
  readonly outcomes: Record<SmtpOutcome['kind'], number>;
}

export interface SmtpPoolLogger {
  warn(fields: object, message: string): void;
}

/** How long a server is left alone after a failure, and at most after many. */
export interface Backoff {
  minMs: number;
  maxMs: number;
}

const BACKOFF: Backoff = { minMs: 250, maxMs: 5_000 };
/** A server whose connections broke so often is used after the next ones, for as long as the longest pause. */
const INTERRUPTIONS_MAX = 3;
/**
 * After this time a search asks no further host, because hosts that greet nobody would keep other work waiting for hours.
 * Two may take as long as RFC 5321 section 4.5.3.2.1 allows.
 */
const SEARCH_MS = 600_000;

/**
 * Tracks which servers may be connected to. Each server has its own state, so a fault of one does not stop the others.
 */
export class ServerHealth {
  readonly servers: readonly PoolServer[];
  readonly labels: readonly string[];
  readonly #logger: SmtpPoolLogger;
  readonly #backoff: Backoff;
  #search = { number: 1, sinceMs: performance.now() };

  constructor(servers: readonly SmtpServerOptions[], logger: SmtpPoolLogger, backoff = BACKOFF) {
    this.servers = servers.map((options) => ({
      options,
      connections: 0,
      openings: 0,
      failures: 0,
      downUntil: 0,
      failedIn: 0,
      interruptions: 0,
      interruptedAt: 0,
      uses: 0,
      isInClear: undefined,
      outcomes: { accepted: 0, rejected: 0, deferred: 0, interrupted: 0 },
    }));
    this.labels = [...new Set(servers.map(({ label }) => label))];
    this.#logger = logger;
    this.#backoff = backoff;
  }

  get connections(): number {
    return this.servers.reduce((sum, server) => sum + server.connections, 0);
  }

  get openings(): number {
    return this.servers.reduce((sum, server) => sum + server.openings, 0);
  }

  /** For metrics. */
  states(): RelayState[] {
    return this.servers.map(({ options: { label, source }, connections, failures, isInClear, outcomes }) => ({
      label,
      source,
      connections,
      outcomes,
      isDown: failures > 0,
      isInClear: isInClear === true,
    }));
  }

  /**
   * Begins the search for a host with a connection. It asks each host once, best first, however long they take to fail:
   * otherwise the first would be asked again, their pauses over, before the last (RFC 5321 section 5.1).
   */
  beginSearch(): void {
    this.#search = { number: this.#search.number + 1, sinceMs: performance.now() };
  }

  isUp(server: PoolServer): boolean {
    if (server.downUntil > Date.now() || server.failedIn === this.#search.number) return false;
    // After a failure a single connection is tried first.
    return server.failures === 0 || server.openings === 0;
  }

  /**
   * The server for a new connection: one without recent interruptions, then the one with the fewest connections. Where
   * preferences matter, the first one that is up, and among equals the one that was used least (RFC 5321 section 5.1).
   * @param isUseful whether a connection to the server would get a message
   */
  pick(isUseful: (server: PoolServer) => boolean = () => true): PoolServer | undefined {
    let picked: PoolServer | undefined;
    for (const server of this.servers) {
      if (!this.isUp(server) || !isUseful(server)) continue;
      if (!picked || this.#rank(server) < this.#rank(picked)) picked = server;
    }
    return picked;
  }

  /** Whether messages go to another host of the domain for a while, because this one broke too often. */
  isPassedOver(server: PoolServer): boolean {
    return this.#isBroken(server) && this.servers.some((other) => !this.#isBroken(other) && this.isUp(other));
  }

  /** The names of the hosts whose connection broke lately under the latest message that they were offered. */
  brokenHosts(): ReadonlySet<string> {
    const sinceMs = Date.now() - this.#backoff.maxMs;
    const broken = this.servers.filter(
      ({ interruptions, interruptedAt }) => interruptions > 0 && interruptedAt > sinceMs,
    );
    return new Set(broken.flatMap(({ options: { exchange } }) => exchange ?? []));
  }

  #isBroken({ options: { preference }, interruptions, interruptedAt }: PoolServer): boolean {
    if (preference === undefined || interruptions < INTERRUPTIONS_MAX) return false;
    return Date.now() - interruptedAt < this.#backoff.maxMs;
  }

  #rank(server: PoolServer): number {
    const { options, interruptions, connections, uses } = server;
    if (options.preference === undefined) return interruptions * 1_000 + connections;
    const preference = options.preference + (this.#isBroken(server) ? 65_536 : 0);
    return preference * 1_000_000 + Math.min(interruptions, INTERRUPTIONS_MAX) * 1_000 + connections + uses / 10_000;
  }

  /**
   * Until when no connection is tried to any of the servers, in milliseconds since 1970; undefined when one has a
   * connection, or may get one.
   * @param avoid labels of servers that do not count
   */
  restsUntilMs(avoid?: ReadonlySet<string>): number | undefined {
    let firstMs = Infinity;
    for (const { options, connections, downUntil } of this.servers) {
      if (avoid?.has(options.label)) continue;
      if (connections > 0) return undefined;
      firstMs = Math.min(firstMs, downUntil);
    }
    return firstMs > Date.now() ? firstMs : undefined;
  }

  /** The labels of the servers that have a connection, or may get one. */
  reachable(): string[] {
    return this.servers
      .filter((server) => server.connections > 0 || this.isUp(server))
      .map(({ options }) => options.label);
  }

  opening(server: PoolServer): void {
    server.connections += 1;
    server.openings += 1;
    server.uses += 1;
  }

  opened(server: PoolServer, isInClear: boolean): void {
    this.beginSearch();
    server.openings -= 1;
    server.failures = 0;
    server.downUntil = 0;
    if (isInClear && server.isInClear === undefined && server.options.exchange === undefined) {
      this.#logger.warn({ server: server.options.label }, 'Messages go to the server in clear; it should offer TLS');
    }
    server.isInClear = isInClear;
  }

  openingEnded(server: PoolServer): void {
    server.connections -= 1;
    server.openings -= 1;
  }

  openingFailed(server: PoolServer, error: SmtpUnavailableError): void {
    const now = Date.now();
    if (isRanked(server) && this.connections === this.openings) {
      const { number, sinceMs } = this.#search;
      for (const each of performance.now() - sinceMs < SEARCH_MS ? [server] : this.servers) each.failedIn = number;
    }
    // Connections that are opened together fail together. They count as one failure of the server.
    if (server.downUntil > now) return;
    server.failures += 1;
    const backoffMs = Math.min(this.#backoff.minMs * 2 ** (server.failures - 1), this.#backoff.maxMs);
    server.downUntil = now + backoffMs;
    const fields = { server: nameOf(server), code: error.code, reply: error.response, backoffMs };
    this.#logger.warn(fields, `No connection: ${error.message}`);
  }

  ended(server: PoolServer): void {
    server.connections -= 1;
    if (this.connections === this.openings) this.beginSearch();
  }

  /** Notes that a connection to the server broke during a message. */
  interrupted(server: PoolServer, fields: object): void {
    this.#noteBroken(server);
    server.outcomes.interrupted += 1;
    this.#logger.warn({ server: nameOf(server), ...fields }, 'The connection broke in the middle of a message');
  }

  #noteBroken(server: PoolServer): void {
    server.interruptions += 1;
    server.interruptedAt = Date.now();
  }

  /**
   * Notes that the server decided a message. A host that is not able to take mail just now counts as one whose connection
   * broke, for the next one may be (RFC 5321 section 5.1).
   */
  decided(server: PoolServer, outcome: SmtpOutcome): void {
    if (isRanked(server) && outcome.kind === 'deferred' && isUnable(outcome)) this.#noteBroken(server);
    else server.interruptions = 0;
    server.outcomes[outcome.kind] += 1;
  }
}

/** Whether it is one of several hosts of a domain, which are asked in an order. */
const isRanked = ({ options: { preference } }: PoolServer): boolean => preference !== undefined;

/** Whether a server says that it is itself the reason: `4.3.x` (RFC 3463 section 3.4), or any 4xx without a status at MAIL. */
function isUnable({ enhancedCode, stage }: { enhancedCode?: string; stage: SmtpStage }): boolean {
  return enhancedCode === undefined ? stage === 'mail' : enhancedCode.startsWith('4.3.');
}

function nameOf({ options: { exchange, host, label } }: PoolServer): string {
  return exchange === undefined ? label : `${exchange} [${host}]`;
}
