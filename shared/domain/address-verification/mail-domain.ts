import type { DnsAnswer, DnsResolver } from '../../platform/dns/resolver.ts';

/** What DNS says about whether a domain accepts mail. */
export interface MailDomain {
  /** Whether the name has name servers, its own or those of the zone above it, or other records. */
  exists: boolean;
  /** Whether the name has address records. */
  hasWebsite: boolean;
  /** `null` is the null MX of RFC 7505: the domain declares that it accepts no mail. */
  mx: 'present' | 'none' | 'null';
  /** Whether a DNS query that the result depends on got no answer. */
  isUnanswered: boolean;
}

/** The most zones that are looked up: the name itself and those above it. */
const ZONES_MAX = 4;

function mxOf(answer: DnsAnswer<{ exchange: string }>): MailDomain['mx'] {
  if (answer.kind !== 'found') return 'none';
  return answer.records.some(({ exchange }) => exchange !== '' && exchange !== '.') ? 'present' : 'null';
}

/** The name and the names above it that have at least two labels, nearest first. */
function zonesOf(domain: string): string[] {
  const labels = domain.split('.');
  return labels
    .slice(0, -1)
    .map((_, index) => labels.slice(index).join('.'))
    .slice(0, ZONES_MAX);
}

/** Looks a domain up. All queries run at the same time, so it takes as long as the slowest one. */
export async function lookUpMailDomain(resolver: DnsResolver, domain: string): Promise<MailDomain> {
  const [mx, addresses, ...servers] = await Promise.all([
    resolver.mx(domain),
    resolver.addresses(domain),
    ...zonesOf(domain).map((zone) => resolver.ns(zone)),
  ]);
  const [own] = servers;
  const isInZone = own?.kind === 'absent' && !own.isNameUnknown && servers.some(({ kind }) => kind === 'found');
  const exists = own?.kind === 'found' || isInZone || mx.kind === 'found' || addresses.kind === 'found';
  const isMailUnknown = mx.kind === 'failed' || (mx.kind === 'absent' && addresses.kind === 'failed');
  return {
    exists,
    hasWebsite: addresses.kind === 'found',
    mx: mxOf(mx),
    isUnanswered: exists ? isMailUnknown : servers.some(({ kind }) => kind === 'failed') || isMailUnknown,
  };
}

/**
 * Whether mail can be delivered to a domain: by its MX, or without one by its address records (RFC 5321 section 5.1).
 */
export function takesMail(domain: MailDomain): boolean {
  return (
    domain.exists && (domain.mx === 'present' || (domain.mx === 'none' && domain.hasWebsite && !domain.isUnanswered))
  );
}
