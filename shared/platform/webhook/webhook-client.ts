import { lookup as lookUpHost } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, request, type Dispatcher } from 'undici';
import { createDnsResolver } from '../dns/resolver.ts';
import { Share } from '../share.ts';
import type { Config } from '../config.ts';
import { retryAfterMs } from '../retry-after.ts';
import { createAddressRule, PRIVATE_NETWORKS } from './allowed-networks.ts';
import { hasForeignPort } from './foreign-ports.ts';
import { signatureHeaders } from './signature.ts';

export interface WebhookRequest {
  url: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  headers: Record<string, string>;
  /** Null for a request without a body. */
  body: string | Uint8Array | null;
  /** The same for every attempt, so that the receiver recognizes a repetition. */
  id: string;
  /** The request is signed with each of them; without any it is not signed. Only texts are signed. */
  secrets: readonly string[];
  /** If false, a redirect is returned as the answer. */
  followsRedirects?: boolean;
}

export interface WebhookAnswer {
  statusCode: number;
  /** The URL that finally answered. */
  url: string;
  contentType: string | null;
  /** The body as text, its first 64 KiB. */
  body: string;
  isTruncated: boolean;
  /** The pause from Retry-After, in milliseconds. */
  retryAfterMs: number | null;
}

export interface WebhookClient {
  /**
   * Sends one signed request and follows redirects.
   * @throws WebhookRefusedError, or WebhookUnreachableError when nobody answered
   */
  send: (webhook: WebhookRequest) => Promise<WebhookAnswer>;
  /** Opens a session for many requests within a short time: hosts are looked up once and connections are kept. */
  open: () => WebhookSession;
  /**
   * Checks whether a URL may be called, as far as that is known now. A host name that does not resolve passes, because
   * it may resolve later.
   * @param needsHttps whether http is refused, except in the allowed networks
   * @throws WebhookRefusedError
   */
  check: (url: string, needsHttps: boolean) => Promise<void>;
}

export interface WebhookSession {
  /** @throws WebhookRefusedError, or WebhookUnreachableError when nobody answered */
  send: (webhook: WebhookRequest) => Promise<WebhookAnswer>;
  close: () => Promise<void>;
}

/** The request may not be sent, and a repetition will not change that. */
export class WebhookRefusedError extends Error {}
/** No answer came; a later attempt may get one. */
export class WebhookUnreachableError extends Error {}

export interface WebhookClientOptions {
  /** Networks in CIDR notation that may be called beside the public internet. */
  allowedNetworks: readonly string[];
  /** Name servers as ip:port; empty means those of the system. */
  dnsServers: readonly string[];
  /** Certificate authorities that are trusted in place of the default ones, in PEM. */
  authorities?: string;
  timeoutMs?: number;
  /** Looks a name up as the system does, by its hosts file and whatever else it is set up with. */
  lookUp?: (host: string) => Promise<string[]>;
}

/** The options of a client that the configuration sets. */
export function webhookClientOptions(config: Config): WebhookClientOptions {
  const { WEBHOOK_ALLOWED_NETWORKS: listed, WEBHOOK_ALLOW_PRIVATE_NETWORKS: hasAllPrivate, DNS_SERVERS } = config;
  return { allowedNetworks: hasAllPrivate ? [...PRIVATE_NETWORKS, ...listed] : listed, dnsServers: DNS_SERVERS };
}

const TIMEOUT_MS = 10_000;
/** Short, because an API caller waits for the check. */
const CHECK_MS = 2_000;
const REDIRECTS_MAX = 5;
/** Answers such as 103 before the answer. A flood of them would keep the process from everything else. */
const INTERIM_ANSWERS_MAX = 20;
const BODY_BYTES_MAX = 64 * 1024;
const REDIRECT_CODES = new Set([301, 302, 303, 307, 308]);
/** The headers of a request to a host that is not the configured receiver. */
const PLAIN_HEADERS = { 'user-agent': 'Everpost', accept: '*/*' };

/** The connections of a session, one agent for each origin. */
interface Agents {
  /** @throws WebhookRefusedError */
  of: (url: URL, signal: AbortSignal) => Promise<Agent>;
  close: () => Promise<void>;
}

interface Hop {
  url: URL;
  method: WebhookRequest['method'];
  headers: Record<string, string>;
  body: WebhookRequest['body'];
  /** Whether the hop goes to the receiver that the request was made for. */
  isReceiver: boolean;
}

/**
 * Parses a URL to call. Errors quote no part of it, because its variables may contain personal data.
 * @throws WebhookRefusedError
 */
function parseTarget(text: string, base?: string): URL {
  if (!URL.canParse(text, base)) throw new WebhookRefusedError('the address is not a URL');
  const url = new URL(text, base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new WebhookRefusedError('only http and https addresses are called');
  }
  if (url.username !== '' || url.password !== '') {
    throw new WebhookRefusedError('credentials in a URL are not sent; use a header');
  }
  return url;
}

function isSameReceiver(from: URL, to: URL): boolean {
  const isUpgrade = from.protocol === 'http:' && to.protocol === 'https:' && from.port === '' && to.port === '';
  return from.origin === to.origin || (isUpgrade && from.hostname === to.hostname);
}

/**
 * The next hop of a redirect, with the method that RFC 9110 section 15.4 asks for. Another origin is not the configured
 * receiver: it gets no headers, no body and no signature of the request.
 * @throws WebhookRefusedError when the redirect must not be followed
 */
function follow(hop: Hop, statusCode: number, location: string): Hop {
  const url = parseTarget(location, hop.url.href);
  if (hop.url.protocol === 'https:' && url.protocol === 'http:') {
    throw new WebhookRefusedError('the server redirects from https to http, which is not followed');
  }
  const becomesGet = statusCode === 303 || (statusCode <= 302 && hop.method === 'POST');
  const method = becomesGet ? 'GET' : hop.method;
  if (isSameReceiver(hop.url, url)) return { ...hop, url, method, body: becomesGet ? null : hop.body };
  if (method !== 'GET') {
    throw new WebhookRefusedError('the server redirects to another origin, where the request is not sent; use its URL');
  }
  return { url, method, headers: PLAIN_HEADERS, body: null, isReceiver: false };
}

async function readStart(body: Dispatcher.ResponseData['body']): Promise<{ text: string; isTruncated: boolean }> {
  const chunks: Buffer[] = [];
  let length = 0;
  let isTruncated = false;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    const left = BODY_BYTES_MAX - length;
    isTruncated = chunk.length > left;
    chunks.push(chunk.subarray(0, left));
    length += Math.min(chunk.length, left);
    if (isTruncated) break;
  }
  // PostgreSQL stores no NUL.
  const text = new TextDecoder().decode(Buffer.concat(chunks)).replaceAll('\0', '');
  return { text, isTruncated };
}

/** Counts the interim answers to a request. @throws WebhookUnreachableError, which ends the request */
function interimLimit(): () => void {
  let count = 0;
  return () => {
    count += 1;
    if (count > INTERIM_ANSWERS_MAX) throw new WebhookUnreachableError('the server sends interim answers without end');
  };
}

function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** The process has two threads for the lookups of the system, which connections to PostgreSQL and relays wait for as well. */
const systemLookups = new Share({ total: 1 });

async function lookUpBySystem(host: string): Promise<string[]> {
  const found = await lookUpHost(host, { all: true });
  return found.map(({ address }) => address);
}

/** Decides which addresses may be called, and connects only to these. */
function createGuard(options: WebhookClientOptions) {
  const { allowedNetworks, dnsServers, authorities, lookUp = lookUpBySystem } = options;
  const { isCallable, isListed, hasNetworks } = createAddressRule(allowedNetworks);
  const resolver = createDnsResolver({ servers: dnsServers });

  /** Whoever has a domain decides how long its name servers take. A lookup of ours keeps no thread; one of the system does. */
  async function addressesOf(host: string, signal: AbortSignal): Promise<string[]> {
    if (isIP(host) !== 0) return [host];
    const answer = host.includes('.') ? await resolver.addresses(host) : undefined;
    if (answer?.kind === 'found') return answer.records;
    return systemLookups.run(host, () => lookUp(host), signal);
  }

  /** @throws WebhookRefusedError when one of the host's addresses, or the port of a public host, may not be called */
  async function callableAddresses(url: URL, signal: AbortSignal): Promise<string[]> {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    // Names without a dot are those of the own network. Whoever asks must not learn which of them exist.
    const isLocalName = isIP(host) === 0 && !host.includes('.');
    const addresses = isLocalName && !hasNetworks ? [] : await addressesOf(host, signal);
    if ((isLocalName && !hasNetworks) || !addresses.every(isCallable)) {
      throw new WebhookRefusedError('its host is not on the public internet (see WEBHOOK_ALLOWED_NETWORKS)');
    }
    if (hasForeignPort(url) && !addresses.every(isListed)) {
      throw new WebhookRefusedError(`another protocol than HTTP is spoken at port ${url.port}`);
    }
    return addresses;
  }

  /** @throws WebhookRefusedError */
  async function pinnedAgent(url: URL, pipelining: 0 | 1, signal: AbortSignal): Promise<Agent> {
    const entries = (await callableAddresses(url, signal)).map((address) => ({ address, family: isIP(address) }));
    const lookup: LookupFunction = (_host, lookupOptions, callback) => {
      const [first] = entries;
      if (lookupOptions.all) callback(null, entries);
      else callback(first ? null : new Error('no address'), first?.address ?? '', first?.family);
    };
    const connect = { lookup, ...(authorities !== undefined && { ca: authorities }) };
    return new Agent({ connect, pipelining, maxHeaderSize: BODY_BYTES_MAX });
  }

  return { callableAddresses, isListed, pinnedAgent };
}

type Guard = ReturnType<typeof createGuard>;

function keepAgents(pinnedAgent: Guard['pinnedAgent']): Agents {
  const kept = new Map<string, Promise<Agent>>();
  return {
    of(url, signal) {
      const agent = kept.get(url.origin) ?? pinnedAgent(url, 1, signal);
      kept.set(url.origin, agent);
      // The next request looks the name up again.
      agent.catch(() => kept.get(url.origin) === agent && kept.delete(url.origin));
      return agent;
    },
    async close() {
      const opened = await Promise.allSettled([...kept.values()]);
      await Promise.all(opened.map(async (result) => result.status === 'fulfilled' && result.value.destroy()));
    },
  };
}

/**
 * Creates an HTTP client for URLs that users write. For each hop the host is resolved once, every address found must be
 * public, and the connection goes to one of these addresses. So a host that resolves to another address a moment later
 * gains nothing.
 */
export function createWebhookClient(options: WebhookClientOptions): WebhookClient {
  const { timeoutMs = TIMEOUT_MS } = options;
  const { callableAddresses, isListed, pinnedAgent } = createGuard(options);

  async function sendHop(
    hop: Hop,
    webhook: WebhookRequest,
    signal: AbortSignal,
    agents?: Agents,
  ): Promise<WebhookAnswer | Hop> {
    const agent = await (agents?.of(hop.url, signal) ?? pinnedAgent(hop.url, 0, signal));
    try {
      const at = Math.floor(Date.now() / 1_000);
      const isSigned = hop.isReceiver && webhook.secrets.length > 0;
      const signature = isSigned ? signatureHeaders(webhook.secrets, webhook.id, at, String(hop.body ?? '')) : {};
      const response = await request(hop.url, {
        dispatcher: agent,
        method: hop.method,
        headers: { ...hop.headers, ...signature },
        body: hop.body,
        signal,
        onInfo: interimLimit(),
      });
      const location = headerText(response.headers['location']);
      if (REDIRECT_CODES.has(response.statusCode) && location !== undefined && webhook.followsRedirects !== false) {
        if (agents) await response.body.dump();
        return follow(hop, response.statusCode, location);
      }
      const { text, isTruncated } = await readStart(response.body);
      return {
        statusCode: response.statusCode,
        url: hop.url.href,
        contentType: headerText(response.headers['content-type']) ?? null,
        body: text,
        isTruncated,
        retryAfterMs: retryAfterMs(headerText(response.headers['retry-after'])),
      };
    } finally {
      if (!agents) await agent.destroy();
    }
  }

  function unreachable(error: unknown, signal: AbortSignal): Error {
    if (error instanceof WebhookRefusedError || error instanceof WebhookUnreachableError) return error;
    if (signal.aborted) return new WebhookUnreachableError(`no answer within ${timeoutMs / 1_000} seconds`);
    const reason: unknown = error instanceof AggregateError ? error.errors[0] : error;
    return new WebhookUnreachableError(`the connection failed (${codeOf(reason)})`);
  }

  async function send(webhook: WebhookRequest, agents?: Agents): Promise<WebhookAnswer> {
    const { url, method, headers, body } = webhook;
    const signal = AbortSignal.timeout(timeoutMs);
    let hop: Hop = { url: parseTarget(url), method, headers, body, isReceiver: true };
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
      const result = await untilAborted(sendHop(hop, webhook, signal, agents), signal).catch((error: unknown) => {
        throw unreachable(error, signal);
      });
      if ('statusCode' in result) return result;
      hop = result;
    }
    throw new WebhookRefusedError(`more than ${REDIRECTS_MAX} redirects`);
  }

  return {
    send: (webhook) => send(webhook),
    open() {
      const agents = keepAgents(pinnedAgent);
      return { send: (webhook) => send(webhook, agents), close: agents.close };
    },
    async check(text, needsHttps) {
      const url = parseTarget(text);
      const signal = AbortSignal.timeout(CHECK_MS);
      const addresses = await untilAborted(callableAddresses(url, signal), signal).catch((error: unknown) => {
        if (error instanceof WebhookRefusedError) throw error;
        return [];
      });
      const isInside = addresses.length > 0 && addresses.every(isListed);
      if (needsHttps && url.protocol === 'http:' && !isInside) {
        throw new WebhookRefusedError('events hold addresses, so it must begin with https (see WEBHOOK_ALLOW_HTTP)');
      }
    },
  };
}

/** The code of a network error, such as ECONNREFUSED. Its message may name a host. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** Waits for work until the signal is aborted; a DNS lookup itself takes no signal. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let abort: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', abort);
  });
  work.catch(() => undefined);
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
