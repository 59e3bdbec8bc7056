import { domainToASCII } from 'node:url';
import { v7 as uuidV7 } from 'uuid';
import { AppError, badRequest } from '../../pure/app-error.ts';
import { domainOf } from '../../pure/email-address.ts';
import type { Em } from '../orm.ts';
import { findProject } from '../projects/projects.ts';
import { query, sql } from '../sql.ts';
import { SenderDomainEntity, type SenderDomain } from './sender-domain.entity.ts';

/** RFC 1035 section 2.3.4, in its text form. */
const DOMAIN_LENGTH_MAX = 253;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * The stored form of a domain name: lower-cased, without a final dot, international labels as `xn--` (RFC 5890).
 * @throws AppError BAD_REQUEST when it is not the name of a domain with at least two labels
 */
function readDomainName(text: string): string {
  const name = domainToASCII(text.trim().replace(/\.$/, '').toLowerCase());
  const labels = name.split('.');
  const isName =
    name.length <= DOMAIN_LENGTH_MAX &&
    labels.length >= 2 &&
    labels.every((label) => LABEL.test(label)) &&
    !/^\d+$/.test(labels.at(-1) ?? '');
  if (!isName)
    throw badRequest(`"${text}" is not a domain name such as mail.example.com`, { details: { field: 'domain' } });
  return name;
}

/**
 * Makes a domain one that the project may send from, without a look at DNS: for local work, or where a relay signs.
 * Adds the domain when the project does not have it yet.
 * @throws AppError BAD_REQUEST for a bad name, RESOURCE_NOT_FOUND for an unknown project
 */
export async function trustDomain(em: Em, projectId: string, domain: string): Promise<SenderDomain> {
  const name = readDomainName(domain);
  await findProject(em, projectId);
  await query(
    em,
    sql`
      insert into sender_domain as d (id, project_id, domain, verified, verified_at, created_at, updated_at)
      values (${uuidV7()}, ${projectId}, ${name}, true, now(), now(), now())
      on conflict (project_id, domain) do update
        set verified = true, verified_at = coalesce(d.verified_at, now()), updated_at = now()`,
  );
  return em.findOneOrFail(SenderDomainEntity, { projectId, domain: name }, { refresh: true });
}

/**
 * Checks that the project may send from an address. The match is exact: example.com does not cover mail.example.com.
 * @throws AppError SENDER_DOMAIN_REFUSED with details `{ reason, domain }`
 */
export async function assertSenderDomain(em: Em, projectId: string, address: string): Promise<void> {
  const spelt = domainOf(address);
  const domain = await em.findOne(SenderDomainEntity, { projectId, domain: domainToASCII(spelt) || spelt });
  if (domain?.verified) return;
  throw domain
    ? new AppError('SENDER_DOMAIN_REFUSED', {
        message: `The sender domain ${spelt} is not verified yet`,
        details: { reason: 'DOMAIN_NOT_VERIFIED', domain: spelt },
        suggestion: 'Complete its DNS records; they are checked every few minutes',
      })
    : new AppError('SENDER_DOMAIN_REFUSED', {
        message: `The sender domain ${spelt} is not registered with this project`,
        details: { reason: 'DOMAIN_NOT_REGISTERED', domain: spelt },
        suggestion: 'Add the domain to the project and complete its DNS records',
      });
}
