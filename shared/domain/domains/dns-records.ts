import type { DnsAnswer, DnsResolver } from '../../platform/dns/resolver.ts';
import { returnPathDomain } from '../../pure/emails/return-path.ts';
import { readSpf } from '../../pure/emails/spf.ts';

export const RECORD_PURPOSES = ['DKIM', 'RETURN_PATH', 'SPF', 'DMARC'] as const;
export type RecordPurpose = (typeof RECORD_PURPOSES)[number];

/** A DNS record that the owner of a domain must set up. */
export interface DnsRecord {
  type: 'TXT' | 'MX';
  /** The full name, without a final dot. */
  name: string;
  /** The value as in a zone file. */
  value: string;
  purpose: RecordPurpose;
  /** Whether the domain can be verified only with this record. */
  required: boolean;
}

/** The values from which the records of a domain are made. */
export interface DomainRecordSource {
  domain: string;
  dkim: { selector: string; publicKey: string };
  /** The host that receives bounces; undefined when the instance receives no mail. */
  inboundDomain: string | undefined;
  isReturnPathRequired: boolean;
}

/** `unanswered` means that no name server answered, so nothing is known about the record. */
export type RecordState = 'found' | 'missing' | 'unanswered';

const RETURN_PATH_PRIORITY = 10;
/** The tree walk begins with a name of at most this many labels. */
const WALK_LABELS_MAX = 7;

/**
 * The records to set up for a domain. Its SPF includes the inbound domain, where the operator publishes the sending
 * hosts of the instance. So a new relay needs no change in the zones of sender domains.
 */
export function domainRecords(source: DomainRecordSource): DnsRecord[] {
  const { domain, dkim, inboundDomain, isReturnPathRequired } = source;
  const records: DnsRecord[] = [
    {
      type: 'TXT',
      name: `${dkim.selector}._domainkey.${domain}`,
      value: `v=DKIM1; k=rsa; p=${dkim.publicKey}`,
      purpose: 'DKIM',
      required: true,
    },
  ];
  if (inboundDomain !== undefined) {
    const name = returnPathDomain(domain);
    records.push(
      {
        type: 'MX',
        name,
        value: `${RETURN_PATH_PRIORITY} ${inboundDomain}`,
        purpose: 'RETURN_PATH',
        required: isReturnPathRequired,
      },
      {
        type: 'TXT',
        name,
        value: `v=spf1 include:${inboundDomain} ~all`,
        purpose: 'SPF',
        required: isReturnPathRequired,
      },
    );
  }
  records.push({ type: 'TXT', name: `_dmarc.${domain}`, value: 'v=DMARC1; p=none', purpose: 'DMARC', required: false });
  return records;
}

function stateOf<Record>(answer: DnsAnswer<Record>, matches: (records: Record[]) => boolean): RecordState {
  if (answer.kind === 'failed') return 'unanswered';
  return answer.kind === 'found' && matches(answer.records) ? 'found' : 'missing';
}

/** The tags of `a=1; b=2` (RFC 6376 section 3.2), without white space inside of values. */
function readTags(text: string): Map<string, string> {
  const tags = new Map<string, string>();
  for (const part of text.split(';')) {
    const at = part.indexOf('=');
    if (at > 0) tags.set(part.slice(0, at).trim(), part.slice(at + 1).replace(/\s+/g, ''));
  }
  return tags;
}

/**
 * Whether the only key record is ours. With two key records at one name, a verifier may use either (RFC 6376 section
 * 3.6.2.2).
 */
function hasOwnKey(texts: string[], publicKey: string): boolean {
  const keys = texts.map(readTags).filter((tags) => tags.has('p'));
  const [key] = keys;
  return (
    key !== undefined &&
    keys.length === 1 &&
    key.get('p') === publicKey &&
    (key.get('v') ?? 'DKIM1') === 'DKIM1' &&
    (key.get('k') ?? 'rsa') === 'rsa' &&
    (key.get('h') ?? 'sha256').split(':').includes('sha256') &&
    ['*', 'email'].some((service) => (key.get('s') ?? '*').split(':').includes(service))
  );
}

function sameHost(left: string, right: string): boolean {
  return left.replace(/\.$/, '').toLowerCase() === right.replace(/\.$/, '').toLowerCase();
}

/** Whether the only SPF record includes a domain. */
function includesInSpf(texts: string[], domain: string): boolean {
  const { count, terms } = readSpf(texts);
  const included = terms.flatMap((term) => /^\+?include:(.+)$/.exec(term)?.[1] ?? []);
  return count === 1 && included.some((name) => sameHost(name, domain));
}

/**
 * The names at which the policy for a domain may be, by the tree walk of RFC 9989 section 4.10: the domain itself, and
 * each name above it up to the top-level domain. Names above with more than seven labels are skipped.
 */
export function policyNames(domain: string): string[] {
  const labels = domain.split('.');
  const above = labels.slice(1).slice(-WALK_LABELS_MAX);
  return [domain, ...above.map((_, index) => above.slice(index).join('.'))];
}

/** Whether there is exactly one DMARC policy. Several policies at one name count as none. */
function hasPolicy(texts: string[]): boolean {
  return texts.filter((text) => /^v\s*=\s*DMARC1\s*(?:;|$)/.test(text)).length === 1;
}

/** Looks for a policy at the domain and at the names above it, whose policy covers the domain. */
async function findDmarc(resolver: DnsResolver, domain: string): Promise<RecordState> {
  const states = await Promise.all(
    policyNames(domain).map(async (name) => stateOf(await resolver.txt(`_dmarc.${name}`), hasPolicy)),
  );
  if (states.includes('found')) return 'found';
  return states.includes('unanswered') ? 'unanswered' : 'missing';
}

/** Looks up all records of a domain at the same time, so it takes as long as the slowest query. */
export async function lookUpRecords(
  resolver: DnsResolver,
  source: DomainRecordSource,
): Promise<Map<RecordPurpose, RecordState>> {
  const { domain, dkim, inboundDomain } = source;
  const lookUps: Record<RecordPurpose, (record: DnsRecord) => Promise<RecordState>> = {
    DKIM: async ({ name }) => stateOf(await resolver.txt(name), (texts) => hasOwnKey(texts, dkim.publicKey)),
    RETURN_PATH: async ({ name }) =>
      stateOf(await resolver.mx(name), (hosts) => hosts.some((host) => sameHost(host.exchange, inboundDomain ?? ''))),
    SPF: async ({ name }) => stateOf(await resolver.txt(name), (texts) => includesInSpf(texts, inboundDomain ?? '')),
    DMARC: () => findDmarc(resolver, domain),
  };
  const states = domainRecords(source).map(
    async (record) => [record.purpose, await lookUps[record.purpose](record)] as const,
  );
  return new Map(await Promise.all(states));
}
