import type { DnsResolver } from '../../platform/dns/resolver.ts';
import type { DkimKeyring } from '../../sending/compose/dkim/key-pair.ts';
import { query, sql, type Em } from '../../database/sql.ts';
import { tables } from '../../database/tables.ts';
import { lookUpRecords, domainRecords, type DomainRecordSource, type RecordState } from './dns-records.ts';
import { SenderDomainEntity, type SenderDomain } from './sender-domain.entity.ts';
import { withKey, type KeyedSenderDomain } from './sender-domains.ts';

/** The failed check with this number ends a verification. Two may fail while a zone is edited or name servers move. */
const FAILED_CHECKS_MAX = 3;
/**
 * The intervals between checks of a domain. They are a little less than five minutes, the interval of the schedule, and
 * than an hour, so that a domain is due when the next run of the schedule begins.
 */
const PENDING_INTERVAL_MINUTES = 4;
const VERIFIED_INTERVAL_MINUTES = 55;
/** Domains with dead name servers are checked after 4, 8, 16, 32 and 64 minutes, so that they delay the others less. */
const BACKOFF_DOUBLINGS_MAX = 4;
/** Counters of checks stop here. */
const COUNTED_CHECKS_MAX = 1_000;

export interface DomainCheckDeps {
  resolver: DnsResolver;
  keyring: DkimKeyring;
  inboundDomain: string | undefined;
}

/** `unanswered` means that DNS gave no answer: such a check neither verifies a domain nor counts as failed. */
export type CheckOutcome = 'complete' | 'incomplete' | 'unanswered';

export interface DomainCheck {
  domain: KeyedSenderDomain;
  outcome: CheckOutcome;
  wasVerified: boolean;
}

/** The values from which the DNS records of a domain are made. */
export function recordSourceOf(domain: KeyedSenderDomain, inboundDomain: string | undefined): DomainRecordSource {
  return {
    domain: domain.domain,
    dkim: { selector: domain.dkimSelector, publicKey: domain.dkimPublicKey },
    inboundDomain,
    isReturnPathRequired: domain.returnPath,
  };
}

function outcomeOf(states: RecordState[]): CheckOutcome {
  if (states.includes('missing')) return 'incomplete';
  return states.includes('unanswered') ? 'unanswered' : 'complete';
}

interface CheckResult {
  outcome: CheckOutcome;
  recordsFound: string[];
}

/**
 * Stores the result of a check. One statement does all, so that each of several simultaneous checks counts. The result
 * is ignored when the domain has got another key.
 */
async function recordCheck(em: Em, domain: KeyedSenderDomain, { outcome, recordsFound }: CheckResult): Promise<void> {
  await query(
    em,
    sql`
      with before as (
        select id, verified as was_verified, trusted,
          case ${outcome}::text when 'complete' then 0
            when 'incomplete' then least(failed_checks + 1, ${COUNTED_CHECKS_MAX}::int)
            else failed_checks end as failed_checks,
          case ${outcome}::text when 'unanswered' then least(unanswered_checks + 1, ${COUNTED_CHECKS_MAX}::int)
            else 0 end as unanswered_checks,
          case ${outcome}::text when 'complete' then true
            when 'incomplete' then dns_verified and failed_checks + 1 < ${FAILED_CHECKS_MAX}::int
            else dns_verified end as dns_verified
        from sender_domain where id = ${domain.id} and dkim_selector = ${domain.dkimSelector} for update
      )
      update sender_domain d set
        last_checked_at = now(),
        updated_at = case when d.verified = (b.trusted or b.dns_verified) and d.records_found = ${recordsFound}::text[]
          then d.updated_at else now() end,
        records_found = ${recordsFound}::text[],
        failed_checks = b.failed_checks,
        unanswered_checks = b.unanswered_checks,
        dns_verified = b.dns_verified,
        verified = b.trusted or b.dns_verified,
        verified_at = case when not (b.trusted or b.dns_verified) then null
          when b.was_verified then d.verified_at else now() end,
        next_check_at = now() + interval '1 minute' *
          case when b.trusted or b.dns_verified then ${VERIFIED_INTERVAL_MINUTES}::int
          else ${PENDING_INTERVAL_MINUTES}::int
            * power(2, least(greatest(b.unanswered_checks - 1, 0), ${BACKOFF_DOUBLINGS_MAX}::int)) end
      from before b where b.id = d.id`,
  );
}

/**
 * Looks up the records of a domain in DNS and stores the result. Takes no longer than the queries of the resolver.
 * @returns undefined when the domain was deleted meanwhile
 */
export async function checkSenderDomain(
  em: Em,
  deps: DomainCheckDeps,
  unkeyed: SenderDomain,
): Promise<DomainCheck | undefined> {
  const domain = await withKey(em, deps.keyring, unkeyed);
  const wasVerified = domain.verified;
  const source = recordSourceOf(domain, deps.inboundDomain);
  const states = await lookUpRecords(deps.resolver, source);
  const required = domainRecords(source).filter((record) => record.required);
  const outcome = outcomeOf(required.map((record) => states.get(record.purpose) ?? 'missing'));
  const recordsFound = [...states]
    .filter(
      ([purpose, state]) => state === 'found' || (state === 'unanswered' && domain.recordsFound.includes(purpose)),
    )
    .map(([purpose]) => purpose);
  await recordCheck(em, domain, { outcome, recordsFound });
  return (await em.refresh(domain)) ? { domain, outcome, wasVerified } : undefined;
}

/** The next domains whose check is due, in the order of their ids. */
export async function findDueDomains(em: Em, asOf: Date, afterId: string | null, limit: number): Promise<string[]> {
  const rows = await query(
    em,
    sql`
      select d.id from sender_domain d join project p on p.id = d.project_id
      where d.next_check_at <= ${asOf} and not p.disabled and (${afterId}::uuid is null or d.id > ${afterId}::uuid)
      order by d.id limit ${limit}`,
    { id: tables.senderDomain.id },
  );
  return rows.map((row) => row.id);
}

/** Checks a domain by its id; undefined when it no longer exists. */
export async function checkDueDomain(
  em: Em,
  deps: DomainCheckDeps,
  domainId: string,
): Promise<DomainCheck | undefined> {
  const domain = await em.findOne(SenderDomainEntity, { id: domainId });
  return domain ? checkSenderDomain(em, deps, domain) : undefined;
}
