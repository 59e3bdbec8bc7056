import { beforeAll, describe, expect, it } from '@jest/globals';
import { createDkimKeyring, DkimKeyError } from '../../sending/compose/dkim/key-pair.ts';
import { createVerp } from '../../sending/compose/verp.ts';
import { useTestDatabase } from '../../../tests/support/database.ts';
import { createProject } from '../projects/projects.ts';
import { query, sql } from '../../database/sql.ts';
import { createSendingIdentities } from './sending-identities.ts';
import { createSenderDomain } from './sender-domains.ts';

const keyring = createDkimKeyring('a secret of a test run, which seals its keys');
const verp = createVerp({ appSecret: 'a secret', domain: 'in.everpost.test' });
let projectId: string;
const { em } = useTestDatabase();

beforeAll(async () => {
  projectId = (await createProject(em(), 'Signers')).project.id;
});

async function addDomain(domain: string): Promise<void> {
  await createSenderDomain(em(), keyring, { projectId, domain, returnPath: false });
}
/** Sets the purposes of the records that the last check has found. */
async function setFound(domain: string, purposes: string[]): Promise<void> {
  await query(em(), sql`update sender_domain set records_found = ${purposes}::text[] where domain = ${domain}`);
}
async function setVerified(domain: string, verified: boolean): Promise<void> {
  await query(
    em(),
    sql`update sender_domain set dns_verified = ${verified}, verified = ${verified} where domain = ${domain}`,
  );
}

describe('a sending identity', () => {
  it('has a signer for domains that DNS has verified, in any spelling, and for no others', async () => {
    await addDomain('xn--bcher-kva.example');
    const signerOf = async (domain: string, project = projectId) =>
      (await createSendingIdentities(em, keyring).identityOf(project, domain)).signer;
    expect(await signerOf('nobody.example')).toBeUndefined();
    expect(await signerOf('xn--bcher-kva.example')).toBeUndefined();
    await setVerified('xn--bcher-kva.example', true);
    expect(await signerOf('bücher.example')).toBeDefined();
    expect(await signerOf('xn--bcher-kva.example')).toBeDefined();
    expect(await signerOf('bücher.example', '01890000-0000-7000-8000-000000000000')).toBeUndefined();
  });

  it.each([
    ['both records exist', ['DKIM', 'RETURN_PATH', 'SPF'], true, 'bounce.xn--mnchen-3ya.example'],
    ['bounces would get lost', ['DKIM', 'SPF', 'DMARC'], true, undefined],
    ['SPF would not pass', ['DKIM', 'RETURN_PATH'], true, undefined],
    ['the domain is not verified in DNS', ['RETURN_PATH', 'SPF'], false, undefined],
  ])('has a return-path host only if DNS has its records: %s', async (_name, purposes, isVerified, host) => {
    const domain = 'xn--mnchen-3ya.example';
    await query(em(), sql`delete from sender_domain where domain = ${domain}`);
    await addDomain(domain);
    await setVerified(domain, isVerified);
    await setFound(domain, purposes);
    const identity = await createSendingIdentities(em, keyring).identityOf(projectId, 'münchen.example');
    expect(identity.returnPathHost).toBe(host);
  });

  it('has no return-path host for a domain whose envelope sender would be too long', async () => {
    const label = 'a'.repeat(60);
    for (const [domain, hasHost] of [
      [`${label}.${label}.${label}.${'b'.repeat(8)}.example`, true],
      [`${label}.${label}.${label}.${'b'.repeat(9)}.example`, false],
    ] as const) {
      await addDomain(domain);
      await setVerified(domain, true);
      await setFound(domain, ['DKIM', 'RETURN_PATH', 'SPF']);
      const { returnPathHost } = await createSendingIdentities(em, keyring).identityOf(projectId, domain);
      expect(returnPathHost).toBe(hasHost ? `bounce.${domain}` : undefined);
      if (hasHost) expect(verp.returnPath(projectId, returnPathHost)).toHaveLength(254);
    }
  });

  it('is cached for a minute, or for some seconds when it has no signer', async () => {
    let nowMs = 1;
    let units = 0;
    const identities = createSendingIdentities(
      () => (units++, em()),
      keyring,
      () => nowMs,
    );
    const kept = () => identities.identityOf(projectId, 'kept.example');
    await addDomain('kept.example');
    expect((await kept()).signer).toBeUndefined();
    await setVerified('kept.example', true);
    await setFound('kept.example', ['DKIM', 'RETURN_PATH', 'SPF']);
    nowMs += 5_000;
    const both = await Promise.all([kept(), kept()]);
    expect(both[0]).toBe(both[1]);
    expect(both[0]).toMatchObject({ signer: expect.anything(), returnPathHost: 'bounce.kept.example' });
    expect(units).toBe(2);
    await setVerified('kept.example', false);
    nowMs += 59_000;
    expect((await kept()).signer).toBeDefined();
    expect(units).toBe(2);
    nowMs += 2_000;
    expect(await kept()).toEqual({ signer: undefined, returnPathHost: undefined });
  });

  it('is refused when its key cannot be read, and the failure is not cached', async () => {
    await addDomain('sealed.example');
    await setVerified('sealed.example', true);
    let units = 0;
    const otherKeyring = createDkimKeyring('another secret of a test run, for its keys');
    const other = createSendingIdentities(() => (units++, em()), otherKeyring);
    await expect(other.identityOf(projectId, 'sealed.example')).rejects.toThrow(DkimKeyError);
    await expect(other.identityOf(projectId, 'sealed.example')).rejects.toThrow('APP_SECRET');
    expect(units).toBe(2);
  });
});
