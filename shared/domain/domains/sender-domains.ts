import { domainToASCII } from 'node:url';
import { uuidV7 } from '../../platform/uuid.ts';
import { AppError, badRequest, tooLarge } from '../../pure/app-error.ts';
import { domainOf } from '../../pure/emails/email-address.ts';
import { LIMITS } from '../../pure/limits.ts';
import type { DkimKeyring } from '../../sending/compose/dkim/key-pair.ts';
import { isUniqueViolation } from '../../database/database-errors.ts';
import { findProject } from '../projects/projects.ts';
import { campaignStatus } from '../../database/constants.ts';
import { inTransaction, query, queryOne, queryPrepared, sql, type Em } from '../../database/sql.ts';
import { number, tables } from '../../database/tables.ts';
import { normalizeAddress, spellingsOf } from '../../pure/emails/email-address.ts';
import { toDomainName } from './domain-name.ts';
import { SenderDomainEntity, type SenderDomain } from './sender-domain.entity.ts';

/**
 * Lets a project send from a domain without a DNS check, for local work, or where a relay signs. Adds the domain when
 * the project does not have it.
 * @throws AppError BAD_REQUEST for a bad name, RESOURCE_NOT_FOUND for an unknown project
 */
export async function trustDomain(em: Em, projectId: string, domain: string): Promise<SenderDomain> {
  const name = toDomainName(domain);
  if (name === undefined) {
    throw badRequest(`"${domain}" is not a domain name such as mail.example.com`, { details: { field: 'domain' } });
  }
  await findProject(em, projectId);
  await query(
    em,
    sql`
      insert into sender_domain as d (id, project_id, domain, trusted, verified, verified_at, created_at, updated_at)
      values (${uuidV7()}, ${projectId}, ${name}, true, true, now(), now(), now())
      on conflict (project_id, domain) do update
        set trusted = true, verified = true, verified_at = coalesce(d.verified_at, now()), updated_at = now()`,
  );
  return em.findOneOrFail(SenderDomainEntity, { projectId, domain: name }, { refresh: true });
}

/** Loads a domain by its stored name. @throws AppError DOMAIN_NOT_FOUND */
export async function findDomainByName(em: Em, projectId: string, domain: string): Promise<SenderDomain> {
  const row = await em.findOne(SenderDomainEntity, { projectId, domain }, { refresh: true });
  if (!row) throw new AppError('DOMAIN_NOT_FOUND', { message: `The project has no domain ${domain}` });
  return row;
}

/** Undoes `trustDomain`: only DNS checks decide from now on. @throws AppError DOMAIN_NOT_FOUND */
export async function untrustDomain(em: Em, projectId: string, domain: string): Promise<SenderDomain> {
  await query(
    em,
    sql`
      update sender_domain set trusted = false, verified = dns_verified,
        verified_at = case when dns_verified then verified_at end, updated_at = now()
      where project_id = ${projectId} and domain = ${domain}`,
  );
  return findDomainByName(em, projectId, domain);
}

/**
 * Checks that the project may send from an address. The match is exact: example.com does not cover mail.example.com.
 * @throws AppError SENDER_DOMAIN_REFUSED with details `{ reason, domain }`
 */
export async function assertSenderDomain(em: Em, projectId: string, address: string): Promise<void> {
  const refusal = (await findRefusedSenders(em, projectId, [address])).get(address);
  if (refusal) throw refusal;
}

/** As `assertSenderDomain`, for an address that is about to be stored: its domain stays until the transaction ends. */
export async function holdSenderDomain(tx: Em, projectId: string, address: string): Promise<void> {
  const name = nameOfDomain(address);
  await query(tx, sql`select from sender_domain where project_id = ${projectId} and domain = ${name} for key share`);
  await assertSenderDomain(tx, projectId, address);
}

/** The stored name of the domain of a sender. */
export function nameOfDomain(address: string): string {
  return domainToASCII(domainOf(address)) || domainOf(address);
}

/** Does the checks of `assertSenderDomain` for several addresses in one statement. @returns the refusals by address */
export async function findRefusedSenders(
  em: Em,
  projectId: string,
  addresses: readonly string[],
): Promise<Map<string, AppError>> {
  const names = [...new Set(addresses.map(nameOfDomain))];
  const rows = await queryPrepared(
    em,
    sql`select domain, verified from sender_domain where project_id = ${projectId} and domain = any(${names}::text[])`,
    { domain: tables.senderDomain.domain, verified: tables.senderDomain.verified },
  );
  const verified = new Map(rows.map((row) => [row.domain, row.verified]));
  return new Map(
    addresses.flatMap((address): [string, AppError][] => {
      const state = verified.get(nameOfDomain(address));
      return state ? [] : [[address, senderRefusal(domainOf(address), state !== undefined)]];
    }),
  );
}

function senderRefusal(domain: string, isRegistered: boolean): AppError {
  return isRegistered
    ? new AppError('SENDER_DOMAIN_REFUSED', {
        message: `The sender domain ${domain} is not verified yet`,
        details: { reason: 'DOMAIN_NOT_VERIFIED', domain },
        suggestion: 'Complete its DNS records; they are checked every few minutes',
      })
    : new AppError('SENDER_DOMAIN_REFUSED', {
        message: `The sender domain ${domain} is not registered with this project`,
        details: { reason: 'DOMAIN_NOT_REGISTERED', domain },
        suggestion: 'Add the domain to the project and complete its DNS records',
      });
}

export interface NewSenderDomain {
  projectId: string;
  /** In the stored form, as `toDomainName` returns it. */
  domain: string;
  /** Whether the return-path records are required. */
  returnPath: boolean;
}

function alreadyAdded(domain: string): AppError {
  return new AppError('CONFLICT', { message: `This project already has the domain ${domain}`, details: { domain } });
}

function assertRoomForDomain(domainCount: number): void {
  if (domainCount < LIMITS.senderDomainsPerProject) return;
  throw tooLarge('domain', `A project may have at most ${LIMITS.senderDomainsPerProject} sender domains`);
}

/**
 * Adds a domain with a key of its own, not verified yet. Making the key takes a good part of a second, so all checks
 * that can refuse the domain come first. The statement counts once more, because of domains added at the same time.
 * @throws AppError CONFLICT when the project already has the domain, VALIDATION_ERROR when it has too many domains
 */
export async function createSenderDomain(em: Em, keyring: DkimKeyring, input: NewSenderDomain): Promise<SenderDomain> {
  const { projectId, domain, returnPath } = input;
  if ((await em.count(SenderDomainEntity, { projectId, domain })) > 0) throw alreadyAdded(domain);
  assertRoomForDomain(await em.count(SenderDomainEntity, { projectId }));
  const id = uuidV7();
  const key = await keyring.generate(id);
  try {
    const added = await queryOne(
      em,
      sql`
        insert into sender_domain (id, project_id, domain, return_path, dkim_selector, dkim_public_key, dkim_private_key,
          created_at, updated_at)
        select ${id}, ${projectId}, ${domain}, ${returnPath}, ${key.selector}, ${key.publicKey}, ${key.sealedPrivateKey},
          now(), now()
        where (select count(*) from sender_domain where project_id = ${projectId}) < ${LIMITS.senderDomainsPerProject}
        returning id`,
      { id: tables.senderDomain.id },
    );
    if (!added) assertRoomForDomain(LIMITS.senderDomainsPerProject);
  } catch (error) {
    if (isUniqueViolation(error, 'sender_domain_project_id_domain_key')) throw alreadyAdded(domain);
    throw error;
  }
  return em.findOneOrFail(SenderDomainEntity, { id });
}

/** A sender domain that has a key, which is needed for its DKIM record. */
export type KeyedSenderDomain = SenderDomain & { dkimSelector: string; dkimPublicKey: string };

function hasKey(domain: SenderDomain): domain is KeyedSenderDomain {
  return typeof domain.dkimSelector === 'string' && typeof domain.dkimPublicKey === 'string';
}

/** Makes the key of a domain that `trustDomain` added without one. If two calls do so at once, the first key counts. */
export async function withKey(em: Em, keyring: DkimKeyring, domain: SenderDomain): Promise<KeyedSenderDomain> {
  if (!hasKey(domain)) {
    const key = await keyring.generate(domain.id);
    await query(
      em,
      sql`
        update sender_domain set dkim_selector = ${key.selector}, dkim_public_key = ${key.publicKey},
          dkim_private_key = ${key.sealedPrivateKey}
        where id = ${domain.id} and dkim_selector is null`,
    );
    await em.refresh(domain);
  }
  if (!hasKey(domain)) throw new AppError('DOMAIN_NOT_FOUND');
  return domain;
}

/** All domains of a project, in alphabetical order. */
export async function listSenderDomains(em: Em, projectId: string): Promise<SenderDomain[]> {
  return em.find(SenderDomainEntity, { projectId }, { orderBy: { domain: 'asc' } });
}

/** Loads a domain by its id. @throws AppError DOMAIN_NOT_FOUND */
export async function findSenderDomain(em: Em, projectId: string, domainId: string): Promise<SenderDomain> {
  const domain = await em.findOne(SenderDomainEntity, { id: domainId, projectId }, { refresh: true });
  if (!domain) throw new AppError('DOMAIN_NOT_FOUND');
  return domain;
}

const DOMAIN_USAGE = { templates: number, campaigns: number };

/** Removes a domain and its key. @throws AppError DOMAIN_NOT_FOUND, CONFLICT while a template or campaign uses it */
export async function deleteSenderDomain(em: Em, projectId: string, domainId: string): Promise<void> {
  return inTransaction(em, async (tx) => {
    // What is being stored with the domain holds it, and is seen once the domain is locked.
    await query(tx, sql`select from sender_domain where id = ${domainId} and project_id = ${projectId} for update`);
    const { id, domain } = await findSenderDomain(tx, projectId, domainId);
    const spellings = spellingsOf(normalizeAddress(domain));
    const usage = await queryOne(
      tx,
      sql`
        select
          (select count(*) from template
            where project_id = ${projectId} and split_part(from_address, '@', -1) = any(${spellings}::text[])
          ) as templates,
          (select count(*) from campaign
            where project_id = ${projectId} and split_part(from_address, '@', -1) = any(${spellings}::text[])
              and status in (${campaignStatus.DRAFT}, ${campaignStatus.SCHEDULED}, ${campaignStatus.SENDING})
          ) as campaigns`,
      DOMAIN_USAGE,
    );
    if (usage && usage.templates + usage.campaigns > 0) {
      throw new AppError('CONFLICT', {
        message: `The domain ${domain} is in use`,
        details: { ...usage },
        suggestion: 'First set another sender in its templates and in the campaigns that are not sent yet',
      });
    }
    await query(tx, sql`delete from sender_domain where id = ${id}`);
  });
}

/** The names of a project's sender domains, in alphabetical order. */
export async function listDomainNames(em: Em, projectId: string): Promise<string[]> {
  return (await listSenderDomains(em, projectId)).map(({ domain }) => domain);
}
