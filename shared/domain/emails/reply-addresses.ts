import { domainToASCII } from 'node:url';
import { validationError } from '../../pure/app-error.ts';
import { domainOf, formerSpelling, normalizeAddress, spellingsOf } from '../../pure/emails/email-address.ts';
import { query, queryOne, sql, inTransaction, type SqlFragment, type Em } from '../../database/sql.ts';
import { number, tables } from '../../database/tables.ts';

/** The mailboxes for feedback loops, and those that RFC 2142 asks every domain to have. */
export const REPORT_MAILBOXES: ReadonlySet<string> = new Set(['abuse', 'complaints', 'fbl', 'postmaster']);
/** Prefixes of the local parts of envelope senders and unsubscribe addresses (`verp.ts`). */
const SIGNED_PREFIXES = ['bounce+', 'unsubscribe+'];
/** Reply addresses of one project. */
const ADDRESSES_MAX = 1_000;

export interface ReplyAddressUse {
  projectId: string;
  /** The reply address of an email; null or undefined when it has none. */
  address: string | null | undefined;
  /** INBOUND_DOMAIN. Addresses at other domains are not checked: any project may name them. */
  inboundDomain: string | undefined;
  /** The field of the request that an error names. */
  field: string;
}

/** The form in which reply addresses are stored and compared: lower case, the domain in ASCII. */
export function toReplyAddress(address: string): string {
  const normalized = normalizeAddress(address);
  return formerSpelling(normalized) ?? normalized;
}

function isAt(address: string, domain: string): boolean {
  return domainOf(address) === (domainToASCII(domain) || domain.toLowerCase());
}

/** Whether an address is at the inbound domain, so that it must belong to the project that uses it. */
export function isReplyAddressAt(address: string | undefined, inboundDomain: string | undefined): boolean {
  return address !== undefined && inboundDomain !== undefined && isAt(toReplyAddress(address), inboundDomain);
}

/** A select of the first project that used a reply address while its domain was not yet INBOUND_DOMAIN. */
function firstUse(address: string): SqlFragment {
  const spellings = spellingsOf(normalizeAddress(address));
  return sql`
    select project_id from (
      select project_id, created_at from template where lower(reply_to) = any(${spellings}::text[])
      union all
      select project_id, created_at from campaign where lower(reply_to) = any(${spellings}::text[])
    ) used
    order by created_at, project_id limit 1`;
}

function refusal(field: string, message: string, code: string): Error {
  return validationError([{ field, message, code }]);
}

async function claimAddress(em: Em, projectId: string, address: string, field: string): Promise<void> {
  const known = await queryOne(em, sql`select project_id as owner from reply_address where address = ${address}`, {
    owner: tables.replyAddress.projectId,
  });
  if (known?.owner === projectId) return;
  if (!known) {
    await query(
      em,
      sql`
        insert into reply_address (address, project_id)
        select ${address}, coalesce((${firstUse(address)}), ${projectId}::uuid)
        on conflict (address) do nothing`,
    );
    const counted = await queryOne(
      em,
      sql`
        select project_id as owner,
          (select count(*) from reply_address where project_id = ${projectId})::int as count
        from reply_address where address = ${address}`,
      { owner: tables.replyAddress.projectId, count: number },
    );
    if (counted && counted.count > ADDRESSES_MAX) {
      throw refusal(field, `A project has at most ${ADDRESSES_MAX} reply addresses at this domain`, 'too_big');
    }
    if (counted?.owner === projectId) return;
  }
  throw refusal(field, 'This address receives the replies of another project: choose another one', 'address_taken');
}

/**
 * Runs `work`, which stores a reply address, and gives the address to the project: both or neither. An address at the
 * inbound domain belongs to the project that uses it first, so that no other project receives its replies.
 * @throws AppError VALIDATION_ERROR naming `field` for an address of another project, or one that is reserved
 */
export async function withReplyAddress<T>(em: Em, use: ReplyAddressUse, work: (em: Em) => Promise<T>): Promise<T> {
  const { projectId, inboundDomain, field } = use;
  const address = use.address ? toReplyAddress(use.address) : undefined;
  if (address === undefined || inboundDomain === undefined || !isAt(address, inboundDomain)) return work(em);
  const local = address.slice(0, address.lastIndexOf('@'));
  if (REPORT_MAILBOXES.has(local) || SIGNED_PREFIXES.some((prefix) => local.startsWith(prefix))) {
    throw refusal(field, 'This address is reserved for reports about email: choose another one', 'address_reserved');
  }
  return inTransaction(em, async (tx) => {
    await claimAddress(tx, projectId, address, field);
    return work(tx);
  });
}

/**
 * The project that receives the replies to an address; undefined when there is none.
 * @param address as `toReplyAddress` returns it
 */
export async function findReplyAddressOwner(em: Em, address: string): Promise<string | undefined> {
  const row = await queryOne(
    em,
    sql`
      with known as (select project_id from reply_address where address = ${address}),
      claimed as (
        insert into reply_address (address, project_id)
        select ${address}, project_id from (${firstUse(address)}) used where not exists (select from known)
        on conflict (address) do nothing
        returning project_id
      )
      select project_id as owner from known union all select project_id from claimed`,
    { owner: tables.replyAddress.projectId },
  );
  return row?.owner;
}
