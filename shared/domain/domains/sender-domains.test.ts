import { beforeAll, describe, expect, it } from '@jest/globals';
import { AppError } from '../../pure/app-error.ts';
import { LIMITS } from '../../pure/limits.ts';
import { createDkimKeyring, type DkimKeyring } from '../../sending/compose/dkim/key-pair.ts';
import { untilBlocked, useTestDatabase } from '../../../tests/support/database.ts';
import type { Em } from '../../database/sql.ts';
import { createCampaign } from '../campaigns/campaigns.ts';
import { createProject } from '../projects/projects.ts';
import { createTemplate, updateTemplate } from '../templates/templates.ts';
import { SenderDomainEntity } from './sender-domain.entity.ts';
import { assertSenderDomain, createSenderDomain, deleteSenderDomain, trustDomain } from './sender-domains.ts';

let projectId: string;
const { em } = useTestDatabase();

beforeAll(async () => {
  projectId = (await createProject(em(), 'Domains')).project.id;
});

async function refusal(address: string, project = projectId): Promise<unknown> {
  try {
    await assertSenderDomain(em(), project, address);
    return undefined;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { code: error.code, details: error.details };
  }
}

describe('trustDomain', () => {
  it.each([
    ['Example.COM', 'example.com'],
    [' mail.example.com. ', 'mail.example.com'],
    ['local.test', 'local.test'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['例え.テスト', 'xn--r8jz45g.xn--zckzah'],
  ])('stores %s as %s', async (text, stored) => {
    const domain = await trustDomain(em(), projectId, text);
    expect(domain).toMatchObject({ projectId, domain: stored, verified: true, verifiedAt: expect.any(Date) });
  });

  it.each([
    '',
    ' ',
    'localhost',
    'a..b',
    '.example.com',
    'exa mple.com',
    'a@example.com',
    '-a.example',
    'a-.example',
    'a_b.example',
    '127.0.0.1',
    '[::1]',
    'https://example.com',
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(127)}example`,
    'example.com\0',
  ])('refuses %j', async (text) => {
    await expect(trustDomain(em(), projectId, text)).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      details: { field: 'domain' },
    });
  });

  it('verifies a pending domain, and changes nothing when repeated', async () => {
    const unit = em();
    unit.create(SenderDomainEntity, { projectId, domain: 'pending.example' });
    await unit.flush();
    expect(await refusal('a@pending.example')).toEqual({
      code: 'SENDER_DOMAIN_REFUSED',
      details: { reason: 'DOMAIN_NOT_VERIFIED', domain: 'pending.example' },
    });
    const first = await trustDomain(em(), projectId, 'pending.example');
    const second = await trustDomain(em(), projectId, 'pending.example');
    expect([second.id, second.verifiedAt]).toEqual([first.id, first.verifiedAt]);
    expect(await refusal('a@pending.example')).toBeUndefined();
  });

  it('refuses an unknown project', async () => {
    await expect(trustDomain(em(), '01890000-0000-7000-8000-000000000000', 'a.example')).rejects.toMatchObject({
      code: 'RESOURCE_NOT_FOUND',
    });
  });
});

describe('assertSenderDomain', () => {
  beforeAll(async () => {
    await trustDomain(em(), projectId, 'exact.example');
    await trustDomain(em(), projectId, 'münchen.example');
  });

  it.each(['a@exact.example', 'a@EXACT.example', 'a@münchen.example', 'a@xn--mnchen-3ya.example'])(
    'accepts %s',
    async (address) => {
      expect(await refusal(address)).toBeUndefined();
    },
  );

  it.each(['mail.exact.example', 'exact.example.org', 'xexact.example', 'example'])('refuses %s', async (domain) => {
    expect(await refusal(`a@${domain}`)).toEqual({
      code: 'SENDER_DOMAIN_REFUSED',
      details: { reason: 'DOMAIN_NOT_REGISTERED', domain },
    });
  });

  it('refuses a domain of another project', async () => {
    const other = await createProject(em(), 'Other');
    expect(await refusal('a@exact.example', other.project.id)).toMatchObject({
      details: { reason: 'DOMAIN_NOT_REGISTERED' },
    });
  });
});

describe('createSenderDomain', () => {
  let keyCount = 0;
  const keyring: DkimKeyring = {
    ...createDkimKeyring('a secret for the keys of these tests'),
    generate: async () => {
      keyCount += 1;
      return { selector: 'key', publicKey: 'public', sealedPrivateKey: Buffer.from('sealed') };
    },
  };
  const add = (domain: string, project: string) =>
    createSenderDomain(em(), keyring, { projectId: project, domain, returnPath: false });

  it('refuses a domain beyond the limit, and one that the project has, before it makes a key', async () => {
    const { id } = (await createProject(em(), 'Many')).project;
    for (let index = 0; index < LIMITS.senderDomainsPerProject; index += 1) await add(`d${index}.example`, id);
    expect(keyCount).toBe(LIMITS.senderDomainsPerProject);
    await expect(add('one-more.example', id)).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      errors: [{ field: 'domain', code: 'too_big' }],
    });
    await expect(add('d0.example', id)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(keyCount).toBe(LIMITS.senderDomainsPerProject);
    await expect(add('one-more.example', projectId)).resolves.toMatchObject({ verified: false });
  });

  it('counts domains that are added at the same time', async () => {
    const { id } = (await createProject(em(), 'At once')).project;
    for (let index = 1; index < LIMITS.senderDomainsPerProject; index += 1) await add(`d${index}.example`, id);
    const late = (domain: string) =>
      createSenderDomain(
        em(),
        {
          ...keyring,
          generate: async (owner) => {
            await trustDomain(em(), id, 'meanwhile.example');
            return keyring.generate(owner);
          },
        },
        { projectId: id, domain, returnPath: false },
      );
    await expect(late('too-late.example')).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
  });
});

describe('deleteSenderDomain', () => {
  const content = {
    name: 'N',
    description: null,
    subject: 'S',
    body: 'B',
    text: null,
    preheader: null,
    fromName: null,
    replyTo: null,
    type: 'MARKETING' as const,
    topicId: null,
  };
  const audience = { audienceType: 'ALL' as const, audienceCondition: null, segmentId: null };

  it.each<[string, (tx: Em, from: string) => Promise<unknown>]>([
    ['a template', (tx, from) => createTemplate(tx, projectId, { ...content, from })],
    ['a campaign', (tx, from) => createCampaign(tx, projectId, { ...content, ...audience, from })],
    [
      'a changed template',
      async (tx, from) => {
        await trustDomain(em(), projectId, 'former.example');
        const { id } = await createTemplate(em(), projectId, { ...content, from: 'a@former.example' });
        await updateTemplate(tx, projectId, id, { from });
      },
    ],
  ])('is refused for a domain that %s is just getting', async (what, store) => {
    const name = `${what.replaceAll(' ', '-')}.example`;
    const { id } = await trustDomain(em(), projectId, name);
    const tx = em();
    await tx.begin();
    await store(tx, `a@${name}`);
    const deleted = deleteSenderDomain(em(), projectId, id);
    await untilBlocked(em);
    await tx.commit();
    await expect(deleted).rejects.toMatchObject({ code: 'CONFLICT' });
  });
});
