import { isIP } from 'node:net';
import { LRUCache } from 'lru-cache';
import type { LookUp } from '../../platform/dns/lookups.ts';
import { createAddressRule } from '../../platform/webhook/allowed-networks.ts';
import { domainOf } from '../../pure/emails/email-address.ts';
import { ConnectionBudget } from '../transport/connection-budget.ts';
import type { RawMessage } from '../transport/data-content.ts';
import { NoOtherServerError, NoWayError, SilentServerError, SmtpUnavailableError } from '../transport/errors.ts';
import type { SmtpEnvelope, SmtpOutcome } from '../transport/message.ts';
import type { MxSource } from '../transport/mx-url.ts';
import type { SmtpUrgency } from '../transport/message-queue.ts';
import { Pool } from '../transport/pool.ts';
import type { SendOptions } from '../transport/pool-options.ts';
import type { RelayState } from '../transport/relay-state.ts';
import type { SmtpPoolLogger } from '../transport/server-health.ts';
import { parseSmtpReply } from '../transport/smtp-reply.ts';
import type { SmtpServerOptions } from '../transport/smtp-url.ts';
import { Utf8NotOfferedError } from '../transport/wire-address.ts';
import { toWireEnvelope } from '../transport/wire-envelope.ts';
import { isUnroutable, unroutable, type MailHost, type Unroutable } from './mail-hosts.ts';
import type { StsFinding } from './mta-sts.ts';
import { createRoutes, destinationOf, type MailRoute, type RoutesOptions } from './routes.ts';
import { openByDemand, TLS_POLICY_CODE, type TlsDemand, type TlsSessionResult } from './tls-session.ts';

/** What delivery to mail hosts needs beside the sources. */
export interface MxPorts {
  lookUp: LookUp;
  /** Whether `lookUp` asks a resolver that validates DNSSEC, and that the operator trusts. */
  isValidating: boolean;
  sts: { find: (domain: string) => Promise<StsFinding> };
  noteTls?: RoutesOptions['noteTls'];
  /** Stores what was noted, when the pool is closed. */
  flushTls?: () => Promise<void>;
  /** Certificate authorities in place of the default ones, in PEM. */
  authorities?: string;
}

export interface MxPoolOptions extends MxPorts {
  sources: readonly MxSource[];
  maxConnections: number;
  replyTimeoutMs?: number | undefined;
  idleTimeoutMs?: number | undefined;
  logger: SmtpPoolLogger;
}

/** The pool of the hosts of one domain, or of all domains with the same hosts where no policy tells them apart. */
interface Destination {
  pool: Pool;
  addresses: string;
  sinceMs: number;
  /** Why the latest connection failed. */
  failure?: SmtpUnavailableError;
}

const DESTINATIONS_MAX = 2_000;
/** Connections to one destination, as many as Postfix opens (`default_destination_concurrency_limit`). */
const CONNECTIONS_MAX = 20;
/** Hosts that change their addresses with every answer keep their connections for so long. */
const ADDRESSES_MS = 60_000;
/** How long a host that cannot be connected to is left alone. */
const BACKOFF = { minMs: 15_000, maxMs: 600_000 };
/**
 * How long messages wait for a silent host: a greeting may take five minutes (RFC 5321 section 4.5.3.2.1). For one that
 * has greeted they wait as long again as it has been silent, so that one that is only slow gets what it takes.
 */
const SILENT_MS = { transactional: 30_000, automation: 30_000, campaign: 300_000 } as const satisfies Record<
  SmtpUrgency,
  number
>;
const BROKEN_TLS_MS = 3_600_000;
/** Faults of this machine, which say nothing about a host. */
const OWN_FAULTS = new Set(['EADDRNOTAVAIL', 'ENETDOWN']);
const OWN_FAULT_MS = 30_000;

/** The route of a report about faults of TLS, which these must not keep back. */
function withoutDemands({ domain, hosts }: MailRoute): MailRoute {
  return {
    domain,
    hosts: hosts.map(({ name, preference, addresses }) => ({ name, preference, addresses })),
    wantsReports: false,
  };
}

/** The number of each preference in order, so that any two may be compared. */
function ranks(hosts: readonly MailHost[]): Map<number, number> {
  const preferences = [...new Set(hosts.map(({ preference }) => preference))].sort((a, b) => a - b);
  return new Map(preferences.map((preference, rank) => [preference, rank]));
}

const fits = ({ localAddress }: MxSource, address: string): boolean =>
  localAddress === undefined || isIP(localAddress) === isIP(address);

const reaches =
  ({ addresses }: MailHost) =>
  (source: MxSource): boolean =>
    addresses.some((address) => fits(source, address));

const silentUntil = ({ silentMs }: SilentServerError, { urgency = 'transactional' }: SendOptions): number =>
  Date.now() + Math.min(silentMs, SILENT_MS[urgency]);

/** The outcome of a message when no host of its domain could be connected to. It is tried again later. */
function outcomeOf({ code, message, response }: SmtpUnavailableError): Unroutable {
  const reply = parseSmtpReply(response ?? '');
  if (reply && reply.replyCode >= 400) return { kind: 'deferred', stage: 'mail', ...reply };
  return unroutable(code === TLS_POLICY_CODE ? '4.7.5' : '4.4.1', 451, message);
}

/**
 * Sends messages to the hosts of their domains. A destination has a pool, and all pools share the connections of the
 * process (`ConnectionBudget`). A host that fails is left alone for a while and the next one is asked; when none is left
 * the message is deferred.
 */
export class MxPool {
  readonly #options: MxPoolOptions;
  readonly #routeOf: (domain: string) => Promise<MailRoute | Unroutable>;
  readonly #destinations = new LRUCache<string, Destination>({ max: DESTINATIONS_MAX });
  /** A route is made every 30 seconds, and used for many messages. */
  readonly #byRoute = new WeakMap<MailRoute, Destination>();
  readonly #budget: ConnectionBudget;
  readonly #broken = new LRUCache<string, TlsSessionResult>({ max: DESTINATIONS_MAX, ttl: BROKEN_TLS_MS });
  readonly #states: readonly RelayState[];
  /** Sources whose address this machine does not have just now, with the end of their pause. */
  readonly #unusable = new Map<string, number>();
  #closing: Promise<unknown> | undefined;

  constructor(options: MxPoolOptions) {
    this.#options = options;
    this.#budget = new ConnectionBudget(() => options.maxConnections);
    const allowed = options.sources.flatMap(({ allowedNetworks }) => allowedNetworks);
    const { isCallable } = createAddressRule(allowed);
    const port = options.sources[0]?.port ?? 25;
    this.#routeOf = createRoutes({ ...options, isAllowed: isCallable, port });
    this.#states = options.sources.map((source) => ({
      label: source.name,
      source,
      connections: 0,
      isDown: false,
      isInClear: false,
      outcomes: { accepted: 0, rejected: 0, deferred: 0, interrupted: 0 },
    }));
  }

  usage() {
    const pools = [...this.#destinations.values()].map(({ pool }) => pool.usage());
    const sum = (name: 'sending' | 'queued') => pools.reduce((all, usage) => all + usage[name], 0);
    return { connections: this.#budget.used, sending: sum('sending'), queued: sum('queued') };
  }

  relays(): RelayState[] {
    const all = [...this.#destinations.values()].flatMap(({ pool }) => pool.relays());
    return this.#states.map((state) => {
      const own = all.filter(({ label }) => label === state.label);
      const connections = own.reduce((sum, each) => sum + each.connections, 0);
      return { ...state, connections, isDown: this.#isUnusable(state.label) };
    });
  }

  isClosed(): boolean {
    return this.#closing !== undefined;
  }

  async close(timeoutMs: number): Promise<void> {
    this.#closing ??= Promise.all([...this.#destinations.values()].map(({ pool }) => pool.close(timeoutMs)));
    await this.#closing;
    await this.#options.flushTls?.();
  }

  /** As {@link SmtpPool.send}; a domain without a host that answers is an outcome of its messages. */
  async send(envelope: SmtpEnvelope, raw: RawMessage, options: SendOptions): Promise<SmtpOutcome> {
    const wire = toWireEnvelope(envelope);
    if ('kind' in wire) return wire;
    const isAvoided = ({ name }: MxSource): boolean => options.avoid?.has(name) === true;
    const { sources } = this.#options;
    const usable = sources.filter((source) => !isAvoided(source) && !this.#isUnusable(source.name));
    if (sources.every(isAvoided)) throw new NoOtherServerError();
    if (usable.length === 0) throw new SmtpUnavailableError('No source of SMTP_URL has an address of this machine');
    const route = await this.#routeOf(domainOf(wire.to));
    if (this.#closing) throw new SmtpUnavailableError('The SMTP pool is closed');
    const outcome = isUnroutable(route) ? route : await this.#sendTo(route, usable, wire, raw, options);
    const { relay = usable[0]?.name } = outcome;
    const state = this.#states.find(({ label }) => label === relay);
    if (state) (state.outcomes as Record<SmtpOutcome['kind'], number>)[outcome.kind] += 1;
    return outcome.relay === relay ? outcome : { ...outcome, relay };
  }

  #isUnusable(name: string): boolean {
    return (this.#unusable.get(name) ?? 0) > Date.now();
  }

  /**
   * The outcome where no source reaches an address of a mail host; undefined where a usable one does.
   * @throws NoOtherServerError or NoWayError where other sources reach one
   */
  #unreached({ domain, hosts }: MailRoute, usable: readonly MxSource[]): Unroutable | undefined {
    if (hosts.some((host) => usable.some(reaches(host)))) return undefined;
    const { sources } = this.#options;
    const reaching = sources.filter((source) => hosts.some((host) => reaches(host)(source)));
    if (reaching.length > 0 && reaching.every(({ name }) => this.#isUnusable(name))) throw new NoOtherServerError();
    const words = `No source of SMTP_URL reaches the addresses of the mail hosts of ${domain}`;
    const outcome = unroutable('4.4.4', 451, words);
    if (reaching.length === 0) return outcome;
    const others = sources.filter((source) => !reaching.includes(source));
    throw new NoWayError(
      others.map(({ name }) => name),
      outcome,
    );
  }

  async #sendTo(
    route: MailRoute,
    usable: readonly MxSource[],
    envelope: SmtpEnvelope,
    raw: RawMessage,
    options: SendOptions,
  ): Promise<SmtpOutcome> {
    const unreached = this.#unreached(route, usable);
    if (unreached) return unreached;
    const destination = this.#destinationOf(envelope.ignoresTls ? withoutDemands(route) : route);
    // One that was tried before may be what breaks the connections of a host: others are not kept from it.
    const unbroken = options.isAlone && this.#without(route, destination.pool.brokenHosts());
    if (unbroken) return this.#sendTo(unbroken, usable, envelope, raw, options);
    const avoid = this.#allBut(usable);
    const unaskedUntilMs = destination.pool.restsUntilMs(avoid);
    try {
      const outcome = await destination.pool.send(envelope, raw, { ...options, avoid });
      const hasArrived = outcome.kind !== 'interrupted' || outcome.mayHaveBeenAccepted;
      const next = hasArrived || options.isAlone ? undefined : this.#without(route, destination.pool.brokenHosts());
      return next ? await this.#sendTo(next, usable, envelope, raw, { ...options, isAlone: true }) : outcome;
    } catch (error) {
      if (error instanceof Utf8NotOfferedError) {
        const next = this.#without(route, new Set([error.server]));
        if (next) return this.#sendTo(next, usable, envelope, raw, options);
        const labels = this.#states.map(({ label }) => label);
        throw new Utf8NotOfferedError(labels, `any mail host of ${route.domain}`);
      }
      const failure = error instanceof NoOtherServerError ? destination.failure : error;
      if (!(failure instanceof SmtpUnavailableError) || this.#closing) throw error;
      if (failure.code !== undefined && OWN_FAULTS.has(failure.code)) throw failure;
      const untilMs = failure instanceof SilentServerError ? silentUntil(failure, options) : unaskedUntilMs;
      return { ...outcomeOf(failure), ...(untilMs !== undefined && { unaskedUntilMs: untilMs }) };
    }
  }

  #allBut(usable: readonly MxSource[]): ReadonlySet<string> | undefined {
    const { sources } = this.#options;
    if (usable.length === sources.length) return undefined;
    return new Set(sources.filter((source) => !usable.includes(source)).map(({ name }) => name));
  }

  /** A route without some of its hosts; undefined when these are none of them, or all that sources reach. */
  #without(route: MailRoute, names: ReadonlySet<string>): MailRoute | undefined {
    const hosts = route.hosts.filter(({ name }) => !names.has(name));
    if (hosts.length === route.hosts.length) return undefined;
    const isReached = hosts.some((host) => this.#options.sources.some(reaches(host)));
    return isReached ? { ...route, hosts } : undefined;
  }

  #destinationOf(route: MailRoute): Destination {
    const known = this.#byRoute.get(route);
    if (known) return known;
    const made = this.#findDestination(route);
    this.#byRoute.set(route, made);
    return made;
  }

  #findDestination(route: MailRoute): Destination {
    const name = destinationOf(route);
    const addresses = route.hosts
      .flatMap((host) => [host.name, ...host.addresses.toSorted(), JSON.stringify(host.dane ?? '')])
      .sort()
      .join();
    const known = this.#destinations.get(name);
    const isRecent = known && Date.now() - known.sinceMs < ADDRESSES_MS;
    if (known && (known.addresses === addresses || isRecent)) return known;
    const destination: Destination = {
      pool: this.#createPool(route, (error) => (destination.failure = error)),
      addresses,
      sinceMs: Date.now(),
    };
    this.#destinations.set(name, destination);
    return destination;
  }

  #createPool({ domain, hosts, sts, wantsReports }: MailRoute, onFailure: (error: SmtpUnavailableError) => void): Pool {
    const { maxConnections, logger, idleTimeoutMs, noteTls } = this.#options;
    const rankOf = ranks(hosts);
    const demands = new Map<string, TlsDemand>();
    const servers = hosts.flatMap((host) => {
      const { dane } = host;
      demands.set(host.name, { domain, ...(dane && { dane }), ...(sts && { sts }) });
      return host.addresses.flatMap((address) => this.#serversAt(host, address, rankOf.get(host.preference) ?? 0));
    });
    return new Pool({
      servers,
      logger,
      budget: this.#budget,
      backoff: BACKOFF,
      maxConnections: Math.min(maxConnections, CONNECTIONS_MAX),
      ...(idleTimeoutMs !== undefined && { idleTimeoutMs }),
      open: async (server, signal) => {
        const demand = demands.get(server.exchange ?? '') ?? { domain };
        try {
          return await openByDemand(server, demand, signal, this.#broken, (result) => {
            if (wantsReports) noteTls?.(demand, result, server.localAddress ?? '');
          });
        } catch (error) {
          if (error instanceof SmtpUnavailableError) {
            onFailure(error);
            if (OWN_FAULTS.has(error.code ?? '')) this.#unusable.set(server.label, Date.now() + OWN_FAULT_MS);
          }
          throw error;
        }
      },
    });
  }

  /** The servers for an address of a host, one for each source that can reach it. */
  #serversAt(host: MailHost, address: string, preference: number): SmtpServerOptions[] {
    const { sources, authorities, replyTimeoutMs } = this.#options;
    const ca = authorities === undefined ? {} : { ca: authorities };
    return sources
      .filter((source) => fits(source, address))
      .map((source) => ({
        source,
        label: source.name,
        host: address,
        port: source.port,
        exchange: host.name,
        preference,
        isSecure: false,
        startTls: 'attempted',
        allowsInsecureAuth: false,
        name: source.helo,
        ...(replyTimeoutMs !== undefined && { replyTimeoutMs }),
        ...(source.localAddress !== undefined && { localAddress: source.localAddress }),
        tls: { servername: host.dane?.name ?? host.name, rejectUnauthorized: false, ...ca },
      }));
  }
}
