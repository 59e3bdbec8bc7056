import { LRUCache } from 'lru-cache';
import type { LookUp } from '../../platform/dns/lookups.ts';
import { findMailHosts, isUnroutable, unroutable, type MailHost, type Unroutable } from './mail-hosts.ts';
import { namesHost, type StsFinding, type StsPolicy } from './mta-sts.ts';
import type { TlsDemand, TlsSessionResult } from './tls-session.ts';

/** Where mail for a domain goes. */
export interface MailRoute {
  domain: string;
  hosts: readonly MailHost[];
  sts?: StsPolicy;
  /** The domain asks for reports about TLS (RFC 8460). */
  wantsReports: boolean;
}

/**
 * The name of the destination of a route. Routes share connections where nothing tells them apart: neither their hosts nor
 * what is asked of a session, and what is noted of it.
 */
export function destinationOf({ domain, hosts, sts, wantsReports }: MailRoute): string {
  const names = hosts.map(({ name, preference }) => `${preference} ${name}`).sort();
  const isApart = wantsReports || sts !== undefined || hosts.some(({ dane }) => dane !== undefined);
  const demands = [sts?.mode, sts?.id, ...(sts?.mx ?? []), wantsReports && 'reports'];
  return [names.join(), isApart && domain, demands.filter(Boolean).join(' ')].join('|');
}

export interface RoutesOptions {
  lookUp: LookUp;
  isAllowed: (address: string) => boolean;
  isValidating: boolean;
  port: number;
  sts: { find: (domain: string) => Promise<StsFinding> };
  /** Takes the results of sessions to domains that ask for reports; missing when no reports are sent. */
  noteTls?: ((demand: TlsDemand, result: TlsSessionResult, source: string) => void) | undefined;
}

const DOMAINS_MAX = 10_000;
/** A route is made again after this time, or sooner when there was none. DNS answers are kept for longer. */
const ROUTE_MS = 30_000;
const NO_ROUTE_MS = 5_000;

/** Creates the function that finds the route of mail for a domain. */
export function createRoutes(options: RoutesOptions): (domain: string) => Promise<MailRoute | Unroutable> {
  const { lookUp, sts, noteTls } = options;
  const known = new LRUCache<string, Promise<MailRoute | Unroutable>>({ max: DOMAINS_MAX });

  async function wantsReports(domain: string): Promise<boolean> {
    if (!noteTls) return false;
    const found = await lookUp('TXT', `_smtp._tls.${domain}`);
    return found.kind === 'found' && found.records.some((text) => /^v=TLSRPTv1\s*;/.test(text));
  }

  async function find(domain: string): Promise<MailRoute | Unroutable> {
    const withheld: string[] = [];
    const hosts = await findMailHosts({ ...options, onWithheld: (host) => withheld.push(host) }, domain);
    if (isUnroutable(hosts) && withheld.length === 0) return hosts;
    const [{ policy, fault }, isReported] = await Promise.all([sts.find(domain), wantsReports(domain)]);
    for (const host of isReported ? withheld : []) {
      noteTls?.({ domain, dane: { name: host, records: [] } }, { type: 'dnssec-invalid', host }, '');
    }
    if (isUnroutable(hosts)) return hosts;
    const demand: TlsDemand = { domain, ...(policy && { sts: policy }) };
    const note = (result: TlsSessionResult) => (isReported ? noteTls?.(demand, result, '') : undefined);
    if (fault) note(fault);
    const usable = hosts.filter(({ name, dane }) => dane || policy?.mode !== 'enforce' || namesHost(policy, name));
    if (usable.length === 0) {
      note({ type: 'validation-failure', reason: 'the policy names none of the MX hosts' });
      return unroutable('4.7.5', 451, `The MTA-STS policy of ${domain} names none of its mail hosts`);
    }
    return { domain, hosts: usable, ...(policy && { sts: policy }), wantsReports: isReported };
  }

  return async (domain) => {
    const kept = known.get(domain);
    if (kept) return kept;
    const finding = find(domain);
    known.set(domain, finding, { ttl: ROUTE_MS });
    const route = await finding.catch((error: unknown) => {
      known.delete(domain);
      throw error;
    });
    if (isUnroutable(route)) known.set(domain, finding, { ttl: NO_ROUTE_MS });
    return route;
  };
}
