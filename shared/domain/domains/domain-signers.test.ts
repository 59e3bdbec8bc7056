import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDkimKeyring, DkimKeyError } from '../../platform/mail/dkim/key-pair.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts';
import { createProject } from '../projects/projects.ts';
import { query, sql } from '../sql.ts';
import { createDomainSigners } from './domain-signers.ts';
import { createSenderDomain } from './sender-domains.ts';

const keyring = createDkimKeyring('a secret of a test run, which seals its keys');
let database: TestDatabase;
let projectId: string;
const em = () => database.orm.em.fork();

beforeAll(async () => {
  database = await createTestDatabase();
  projectId = (await createProject(em(), 'Signers')).project.id;
});
afterAll(() => database.drop());

async function addDomain(domain: string): Promise<void> {
  await createSenderDomain(em(), keyring, { projectId, domain, returnPath: false });
}
async function setVerified(domain: string, verified: boolean): Promise<void> {
  await query(
    em(),
    sql`update sender_domain set dns_verified = ${verified}, verified = ${verified} where domain = ${domain}`,
  );
}

describe('createDomainSigners', () => {
  it('has a signer for domains that DNS has verified, in any spelling, and for no others', async () => {
    await addDomain('xn--bcher-kva.example');
    const signers = createDomainSigners(em, keyring, () => 0);
    expect(await signers.signerOf(projectId, 'nobody.example')).toBeUndefined();
    expect(await createDomainSigners(em, keyring).signerOf(projectId, 'xn--bcher-kva.example')).toBeUndefined();
    await setVerified('xn--bcher-kva.example', true);
    const signer = await signers.signerOf(projectId, 'bücher.example');
    expect(signer).toBeDefined();
    expect(await signers.signerOf(projectId, 'xn--bcher-kva.example')).toBe(signer);
    expect(await signers.signerOf('01890000-0000-7000-8000-000000000000', 'bücher.example')).toBeUndefined();
  });

  it('keeps a signer for a minute, and that there is none for seconds', async () => {
    let nowMs = 0;
    let units = 0;
    const signers = createDomainSigners(
      () => (units++, em()),
      keyring,
      () => nowMs,
    );
    await addDomain('kept.example');
    expect(await signers.signerOf(projectId, 'kept.example')).toBeUndefined();
    await setVerified('kept.example', true);
    nowMs += 5_000;
    const both = [signers.signerOf(projectId, 'kept.example'), signers.signerOf(projectId, 'kept.example')];
    expect((await Promise.all(both)).every((signer) => signer !== undefined)).toBe(true);
    expect(units).toBe(2);
    await setVerified('kept.example', false);
    nowMs += 59_000;
    expect(await signers.signerOf(projectId, 'kept.example')).toBeDefined();
    expect(units).toBe(2);
    nowMs += 2_000;
    expect(await signers.signerOf(projectId, 'kept.example')).toBeUndefined();
  });

  it('says that a key cannot be read, and tries again the next time', async () => {
    await addDomain('sealed.example');
    await setVerified('sealed.example', true);
    const other = createDomainSigners(em, createDkimKeyring('another secret of a test run, for its keys'));
    await expect(other.signerOf(projectId, 'sealed.example')).rejects.toThrow(DkimKeyError);
    await expect(other.signerOf(projectId, 'sealed.example')).rejects.toThrow('APP_SECRET');
  });
});
