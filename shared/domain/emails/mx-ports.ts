import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { dayOf } from '../../pure/days.ts';
import type { Config } from '../../platform/config.ts';
import { createDnsLookups, type LookUp } from '../../platform/dns/lookups.ts';
import { Gather } from '../../platform/gather.ts';
import type { Logger } from '../../platform/logger.ts';
import { withTimeLimit } from '../../platform/time-limit.ts';
import {
  createWebhookClient,
  WebhookUnreachableError,
  type WebhookClient,
} from '../../platform/webhook/webhook-client.ts';
import { json, query, queryOne, sql, type Em } from '../../database/sql.ts';
import { pick, tables } from '../../database/tables.ts';
import { createStsPolicies, type FetchedText, type StsPolicy, type StsPorts } from '../../sending/route/mta-sts.ts';
import type { MxPorts } from '../../sending/route/mx-pool.ts';
import type { TlsDemand, TlsSessionResult } from '../../sending/route/tls-session.ts';
import { mxSourcesOf } from '../../sending/route/mail-pool.ts';

/** A policy as it is stored; times are in milliseconds since 1970. */
type StoredPolicy = Omit<StsPolicy, 'fetchedAt' | 'expiresAt'> & { fetchedAtMs: number; expiresAtMs: number };

/** What is counted of TLS sessions, for one policy and one host. */
export interface TlsDetail extends TlsSessionResult {
  /** The policy as the report names it (RFC 8460 section 4.4). */
  policy: { type: 'tlsa' | 'sts' | 'no-policy-found'; strings: string[]; hosts: string[] };
  /** The local address. */
  source?: string;
}

declare module '../../database/column-types.ts' {
  interface ColumnTypes {
    'mtaStsPolicy.policy': StoredPolicy;
    'tlsResult.detail': TlsDetail;
  }
}

interface MxPortsDeps {
  config: Config;
  em: () => Em;
  logger: Logger;
}

/** RFC 8461 section 3.3 suggests a minute; a policy is fetched while messages wait. */
const FETCH_MS = 10_000;
const WRITE_MS = 5_000;
const RESULTS_MAX = 500;
/** Different details of a domain and day; what comes after them is counted without a host. */
const DETAILS_MAX = 200;
const CERTIFICATE_CODES = /CERT|SIGNED|SIGNATURE|ISSUER|ALTNAME/;

/**
 * Fetches policies through checks of the certificate, without redirects, within limits (RFC 8461 section 3.3).
 * @param port another one than that of HTTPS, for tests
 */
export function createPolicyFetch(client: Pick<WebhookClient, 'send'>, port = 443): StsPorts['fetchText'] {
  const request = { method: 'GET', headers: { accept: 'text/plain' }, body: null, id: '', secrets: [] } as const;
  return async (domain): Promise<FetchedText> => {
    const url = `https://mta-sts.${domain}${port === 443 ? '' : `:${port}`}/.well-known/mta-sts.txt`;
    try {
      const { statusCode, contentType, body, isTruncated } = await client.send({
        ...request,
        url,
        followsRedirects: false,
      });
      if (statusCode !== 200) return { fault: 'sts-policy-fetch-error', reason: `status ${statusCode}` };
      if (isTruncated) return { fault: 'sts-policy-fetch-error', reason: 'the policy is too long' };
      if (!/^text\/plain\s*(?:;|$)/i.test(contentType ?? '')) {
        return { fault: 'sts-policy-fetch-error', reason: 'the policy is not text/plain' };
      }
      return { text: body };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const isCertificate = error instanceof WebhookUnreachableError && CERTIFICATE_CODES.test(reason);
      return { fault: isCertificate ? 'sts-webpki-invalid' : 'sts-policy-fetch-error', reason };
    }
  };
}

/** The policies of domains in PostgreSQL. */
export function createPolicyStore(em: () => Em): StsPorts['store'] {
  return {
    async find(domain) {
      const row = await queryOne(
        em(),
        sql`select policy from mta_sts_policy where domain = ${domain} and expires_at > now()`,
        pick(tables.mtaStsPolicy, 'policy'),
      );
      if (!row) return undefined;
      const { fetchedAtMs, expiresAtMs, ...policy } = row.policy;
      return { ...policy, fetchedAt: new Date(fetchedAtMs), expiresAt: new Date(expiresAtMs) };
    },
    async save(domain, { fetchedAt, expiresAt, ...policy }) {
      const stored: StoredPolicy = { ...policy, fetchedAtMs: fetchedAt.getTime(), expiresAtMs: expiresAt.getTime() };
      await query(
        em(),
        sql`
          insert into mta_sts_policy (domain, policy, expires_at) values (${domain}, ${json(stored)}::jsonb, ${expiresAt})
          on conflict (domain) do update set policy = excluded.policy, expires_at = excluded.expires_at`,
      );
    },
  };
}

/** The policy of a demand as a report names it. */
export function reportedPolicy({ dane, sts }: TlsDemand): TlsDetail['policy'] {
  if (dane) {
    const strings = dane.records.map(({ usage, selector, matchingType, certificate }) =>
      [usage, selector, matchingType, certificate.toString('hex')].join(' '),
    );
    return { type: 'tlsa', strings, hosts: [dane.name] };
  }
  if (!sts) return { type: 'no-policy-found', strings: [], hosts: [] };
  const age = Math.round((sts.expiresAt.getTime() - sts.fetchedAt.getTime()) / 1_000);
  const hosts = sts.mx.map((name) => `mx: ${name}`);
  return { type: 'sts', strings: ['version: STSv1', `mode: ${sts.mode}`, ...hosts, `max_age: ${age}`], hosts: sts.mx };
}

interface CountedResult {
  day: string;
  domain: string;
  detail: TlsDetail;
}

export async function countSessions(em: Em, results: readonly CountedResult[]): Promise<void> {
  const counted = new Map<string, CountedResult & { digest: string; sessions: number }>();
  for (const result of results) {
    const digest = createHash('sha256').update(JSON.stringify(result.detail)).digest('base64url');
    const key = `${result.day} ${result.domain} ${digest}`;
    const known = counted.get(key) ?? { ...result, digest, sessions: 0 };
    known.sessions += 1;
    counted.set(key, known);
  }
  const rows = [...counted.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  await query(
    em,
    sql`
      insert into tls_result as r (day, domain, digest, detail, sessions)
      select * from unnest(
        ${rows.map(({ day }) => day)}::date[], ${rows.map(({ domain }) => domain)}::text[],
        ${rows.map(({ digest }) => digest)}::text[], ${rows.map(({ detail }) => json(detail))}::jsonb[],
        ${rows.map(({ sessions }) => sessions)}::bigint[]
      )
      on conflict (day, domain, digest) do update set sessions = r.sessions + excluded.sessions`,
  );
}

/** Creates the function that counts the results of TLS sessions, and the one that stores what was counted at once. */
export function createTlsCounter(em: () => Em, logger: Logger): Required<Pick<MxPorts, 'noteTls' | 'flushTls'>> {
  const seen = new LRUCache<string, Set<string>>({ max: 10_000 });
  const results = new Gather<CountedResult>({
    async write(items) {
      await countSessions(em(), items);
      return items.map(() => undefined);
    },
    itemsMax: RESULTS_MAX,
    waitMs: WRITE_MS,
    waitingMax: 20 * RESULTS_MAX,
    afterFault: () => 'repeat',
  });
  const noteTls: MxPorts['noteTls'] = (demand, result, source) => {
    const { domain } = demand;
    const day = dayOf(Date.now());
    const details = seen.get(`${day} ${domain}`) ?? new Set();
    const about = JSON.stringify([result, source]);
    if (details.size < DETAILS_MAX) details.add(about);
    seen.set(`${day} ${domain}`, details);
    const kept = details.has(about) ? { ...result, ...(source !== '' && { source }) } : { type: result.type };
    const detail = { policy: reportedPolicy(demand), ...kept };
    results.add({ day, domain, detail }).catch((error: unknown) => {
      logger.debug({ err: error }, 'a result of a TLS session was not counted');
    });
  };
  return { noteTls, flushTls: () => withTimeLimit(results.drain(), WRITE_MS, () => undefined) };
}

/** How this installation asks about the domains of recipients: their records, their policies, and where they want reports. */
export function createDomainClients(config: Pick<Config, 'DNS_SERVERS' | 'DNSSEC_SERVERS' | 'SMTP_URL'>): {
  lookUp: LookUp;
  client: WebhookClient;
} {
  const { DNS_SERVERS: dnsServers, DNSSEC_SERVERS: validating } = config;
  const allowedNetworks = mxSourcesOf(config.SMTP_URL).flatMap((source) => source.allowedNetworks);
  return {
    lookUp: createDnsLookups({ servers: validating.length > 0 ? validating : dnsServers }),
    client: createWebhookClient({ allowedNetworks, dnsServers, timeoutMs: FETCH_MS }),
  };
}

/** What delivery to mail hosts gets from this installation. */
export function createMxPorts({ config, em, logger }: MxPortsDeps): MxPorts {
  const { lookUp, client } = createDomainClients(config);
  return {
    lookUp,
    isValidating: config.DNSSEC_SERVERS.length > 0,
    sts: createStsPolicies({ lookUp, fetchText: createPolicyFetch(client), store: createPolicyStore(em) }),
    ...(config.TLS_REPORT_FROM !== undefined && createTlsCounter(em, logger)),
  };
}
