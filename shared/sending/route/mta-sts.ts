import { LRUCache } from 'lru-cache';
import { DAY_MS } from '../../pure/days.ts';
import type { LookUp } from '../../platform/dns/lookups.ts';

/** The policy of a domain about TLS to its mail hosts (RFC 8461). */
export interface StsPolicy {
  /** The id in the TXT record with which it was fetched. */
  id: string;
  mode: 'enforce' | 'testing' | 'none';
  /** Names of hosts; `*.` stands for one label. */
  mx: string[];
  fetchedAt: Date;
  expiresAt: Date;
}

/** The text of a policy, or why there is none. */
export type FetchedText = { text: string } | { fault: 'sts-policy-fetch-error' | 'sts-webpki-invalid'; reason: string };

/** What the product gives the engine for MTA-STS. */
export interface StsPorts {
  lookUp: LookUp;
  /** Fetches `https://mta-sts.<domain>/.well-known/mta-sts.txt`. It never throws. */
  fetchText: (domain: string) => Promise<FetchedText>;
  /** The policies that all workers remember, so that a restart forgets none. */
  store: {
    find: (domain: string) => Promise<StsPolicy | undefined>;
    save: (domain: string, policy: StsPolicy) => Promise<void>;
  };
  now?: () => number;
}

/** The policy that holds, and why there is no newer one. */
export interface StsFinding {
  policy?: StsPolicy;
  fault?: { type: 'sts-policy-fetch-error' | 'sts-policy-invalid' | 'sts-webpki-invalid'; reason: string };
}

const RECORD = /^v=STSv1\s*;(?:.*;)?\s*id=([A-Za-z0-9]{1,32})\s*(?:;|$)/;
/** RFC 8461 section 3.2: about a year. */
const MAX_AGE_SECONDS = 31_557_600;
const HOSTS_MAX = 100;
const DOMAINS_MAX = 10_000;
/** RFC 8461 section 5.1: a fetch that failed is not repeated sooner. */
const FAILED_MS = 300_000;

/**
 * Reads the text of a policy (RFC 8461 section 3.2). Unknown keys are left out, and of several equal ones the first
 * counts.
 * @returns undefined when it is no valid policy
 */
export function parsePolicy(text: string, id: string, nowMs: number): StsPolicy | undefined {
  const values = new Map<string, string[]>();
  for (const line of text.split(/\r?\n/)) {
    const [, key, value] = /^([\w.-]{1,32})[ \t]*:[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
    if (key !== undefined && value !== undefined) values.set(key, [...(values.get(key) ?? []), value]);
    else if (line.trim() !== '') return undefined;
  }
  const first = (key: string): string => values.get(key)?.[0] ?? '';
  const mode = (['enforce', 'testing', 'none'] as const).find((each) => each === first('mode'));
  const mx = (values.get('mx') ?? []).map((name) => name.toLowerCase().replace(/\.$/, ''));
  const areHosts = mx.length <= HOSTS_MAX && mx.every((name) => /^(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/.test(name));
  const age = /^\d{1,10}$/.test(first('max_age')) ? Number(first('max_age')) : Infinity;
  if (first('version') !== 'STSv1' || mode === undefined || age > MAX_AGE_SECONDS || !areHosts) return undefined;
  if (mode !== 'none' && mx.length === 0) return undefined;
  return { id, mode, mx, fetchedAt: new Date(nowMs), expiresAt: new Date(nowMs + age * 1_000) };
}

/** Whether a policy names a host (RFC 8461 section 4.1). */
export function namesHost({ mx }: Pick<StsPolicy, 'mx'>, host: string): boolean {
  const name = host.toLowerCase();
  return mx.some((pattern) => (pattern.startsWith('*.') ? name.replace(/^[^.]+/, '*') : name) === pattern);
}

/**
 * Finds the policies of domains. A policy holds until it expires, whatever fails or disappears meanwhile; a newer one
 * is fetched when the TXT record has another id, and once a day.
 */
export function createStsPolicies({ lookUp, fetchText, store, now = Date.now }: StsPorts) {
  const known = new LRUCache<string, StsPolicy>({ max: DOMAINS_MAX });
  const failures = new LRUCache<string, { untilMs: number; finding: StsFinding }>({ max: DOMAINS_MAX });

  async function knownPolicy(domain: string): Promise<StsPolicy | undefined> {
    const policy = known.get(domain) ?? (await store.find(domain));
    if (!policy || policy.expiresAt.getTime() <= now()) return undefined;
    known.set(domain, policy);
    return policy;
  }

  async function fetchPolicy(domain: string, id: string, old: StsPolicy | undefined): Promise<StsFinding> {
    const earlier = failures.get(`${domain} ${id}`);
    if (earlier && earlier.untilMs > now()) return { ...earlier.finding, ...(old && { policy: old }) };
    const fetched = await fetchText(domain);
    const policy = 'text' in fetched ? parsePolicy(fetched.text, id, now()) : undefined;
    if (policy) {
      known.set(domain, policy);
      // Another worker, or this one the next time, stores it.
      await store.save(domain, policy).catch(() => undefined);
      return { policy };
    }
    const fault: StsFinding['fault'] =
      'text' in fetched
        ? { type: 'sts-policy-invalid', reason: 'the text is no valid policy' }
        : { type: fetched.fault, reason: fetched.reason };
    failures.set(`${domain} ${id}`, { untilMs: now() + FAILED_MS, finding: { fault } });
    return { fault, ...(old && { policy: old }) };
  }

  return {
    /** The policy that holds for a domain now. A policy of mode `none` is none. */
    async find(domain: string): Promise<StsFinding> {
      const [old, texts] = await Promise.all([knownPolicy(domain), lookUp('TXT', `_mta-sts.${domain}`)]);
      const records = texts.kind === 'found' ? texts.records.filter((text) => /^v=STSv1\s*;/.test(text)) : [];
      const id = records.length === 1 ? RECORD.exec(records[0] ?? '')?.[1] : undefined;
      const isFresh = old && old.id === id && now() - old.fetchedAt.getTime() < DAY_MS;
      const finding =
        id === undefined || isFresh ? { ...(old && { policy: old }) } : await fetchPolicy(domain, id, old);
      const isNone = finding.policy?.mode === 'none';
      return isNone ? { ...(finding.fault && { fault: finding.fault }) } : finding;
    },
  };
}
