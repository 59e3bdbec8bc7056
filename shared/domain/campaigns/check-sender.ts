import { domainToASCII } from 'node:url';
import { domainOf } from '../../pure/emails/email-address.ts';
import { queryOne, sql, type Em } from '../../database/sql.ts';
import { nullable, number } from '../../database/tables.ts';
import { SenderDomainEntity } from '../domains/sender-domain.entity.ts';
import { readPolicy } from '../emails/permit-store.ts';

/** What receivers will see of the sender's domain, by its last check. */
export async function checkSender(em: Em, projectId: string, from: string) {
  const asWritten = domainOf(from);
  const domain = domainToASCII(asWritten) || asWritten;
  const found = await em.findOne(SenderDomainEntity, { projectId, domain });
  const has = (...purposes: string[]) => purposes.every((purpose) => found?.recordsFound.includes(purpose) ?? false);
  const isSigned = found?.dnsVerified ?? false;
  return {
    domain: asWritten,
    isRegistered: found !== null,
    isVerified: found?.verified ?? false,
    checkedAt: found?.lastCheckedAt ?? null,
    /** Whether messages are signed with the domain of the header From, as DMARC requires (RFC 9989). */
    isDkimAligned: isSigned && has('DKIM'),
    /** Whether the envelope sender is at that domain and SPF allows it, which DMARC accepts as well. */
    isSpfAligned: isSigned && has('RETURN_PATH', 'SPF'),
    hasDmarc: has('DMARC'),
  };
}

export interface SendingSpeed {
  emailsPerSecond: number;
  /** The limit of the project, or the speed that it reached within the last day. */
  basis: 'limit' | 'measured';
}

const BUCKET_SECONDS = 10;
/** Fewer emails in a bucket do not show how fast a project can send. */
const BUCKET_MIN = 50;
/** How many of the latest emails of a day are counted. */
const EMAILS_SEEN = 20_000;

/** How fast a project sends; undefined when it has no limit and has sent too few emails within the last day to tell. */
export async function readSendingSpeed(
  em: Em,
  projectId: string,
  defaultRatePerSecond: number,
): Promise<SendingSpeed | undefined> {
  const policy = await readPolicy(em, projectId, defaultRatePerSecond);
  if (policy && policy.ratePerSecond > 0) return { emailsPerSecond: policy.ratePerSecond, basis: 'limit' };
  const fullest = await queryOne(
    em,
    sql`
      select max(emails)::int as emails from (
        select count(*) as emails from (
          select created_at from event
          where project_id = ${projectId} and name = 'email.sent' and created_at > now() - interval '1 day'
          order by created_at desc limit ${EMAILS_SEEN}
        ) sent group by floor(extract(epoch from created_at) / ${BUCKET_SECONDS}::int)
      ) bucket`,
    { emails: nullable(number) },
  );
  const emails = fullest?.emails ?? 0;
  return emails < BUCKET_MIN ? undefined : { emailsPerSecond: emails / BUCKET_SECONDS, basis: 'measured' };
}
