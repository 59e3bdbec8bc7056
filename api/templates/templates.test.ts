import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { SenderDomainEntity } from '../../shared/domain/domains/sender-domain.entity.ts';
import { EmailEntity } from '../../tests/support/entities/email.entity.ts';
import type { EmailStatus } from '../../shared/pure/emails/email-types.ts';
import { startTestApi, type TestApi, type TestProject, type TestReply } from '../../tests/support/api.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

const content = {
  name: 'Welcome',
  subject: 'Hi {{name ?? "there"}}',
  body: '<p>{{name}}</p>',
  from: 'hello@example.com',
};

async function createTemplate(
  fields: Record<string, unknown> = {},
  owner: TestProject = app,
): Promise<TestReply['body']> {
  const reply = await owner.api('POST', '/templates', { body: { ...content, ...fields } });
  expect(reply.status).toBe(201);
  return reply.body;
}

describe('POST /templates', () => {
  it('creates a template with defaults', async () => {
    const template = await createTemplate();
    expect(template).toEqual({
      ...content,
      id: expect.any(String),
      description: null,
      fromName: null,
      replyTo: null,
      text: null,
      preheader: null,
      type: 'MARKETING',
      topicId: null,
      projectId: app.project.id,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    });
    expect((await app.api('GET', `/templates/${template.id}`)).body).toEqual(template);
  });

  it('keeps every field', async () => {
    const fields = { description: 'Note', fromName: 'Ada & Co', replyTo: 'reply@elsewhere.org', type: 'TRANSACTIONAL' };
    expect(await createTemplate({ ...fields, from: ' Hello@Example.COM ' })).toMatchObject({
      ...fields,
      from: 'hello@example.com',
    });
  });

  it('takes a blank name of the sender as none', async () => {
    const template = await createTemplate({ fromName: '' });
    expect(template.fromName).toBeNull();
    await app.api('PATCH', `/templates/${template.id}`, { body: { fromName: 'Ada' } });
    const patched = await app.api('PATCH', `/templates/${template.id}`, { body: { fromName: ' ' } });
    expect([patched.status, patched.body.fromName]).toEqual([200, null]);
  });

  it.each<[string, Record<string, unknown>]>([
    ['Name is required', {}],
    ['Name is required', { ...content, name: ' ' }],
    ['Subject is required', { ...content, subject: '', body: '', from: '' }],
    ['Body is required', { ...content, body: null, from: undefined }],
    ['From address is required', { ...content, from: undefined }],
  ])('answers "%s" in the flat form', async (error, body) => {
    const reply = await app.api('POST', '/templates', { body });
    expect([reply.status, reply.body]).toEqual([400, { error }]);
  });

  it.each<[string, unknown]>([
    ['name', 'x'.repeat(201)],
    ['subject', 'x'.repeat(999)],
    ['subject', 'a\nb'],
    ['subject', 'a\r\nBcc: x@example.com'],
    ['body', 5],
    ['body', 'x'.repeat(2_000_001)],
    ['from', 'nobody'],
    ['fromName', 'a\nb'],
    ['replyTo', 'nobody'],
    ['type', 'NEWSLETTER'],
    ['description', 'x'.repeat(1_001)],
  ])('refuses a bad %s', async (field, value) => {
    const reply = await app.api('POST', '/templates', { body: { ...content, [field]: value } });
    expect([reply.status, reply.body.error.code, reply.body.error.errors[0].field]).toEqual([
      422,
      'VALIDATION_ERROR',
      field,
    ]);
  });

  it('refuses a sender whose domain the project does not have', async () => {
    for (const domain of ['elsewhere.org', 'mail.example.com']) {
      const reply = await app.api('POST', '/templates', { body: { ...content, from: `hello@${domain}` } });
      expect(reply.status).toBe(403);
      expect(reply.body.error).toMatchObject({
        code: 'INTERNAL_SERVER_ERROR',
        statusCode: 403,
        details: { reason: 'DOMAIN_NOT_REGISTERED', domain },
      });
    }
  });

  it('refuses a sender whose domain is not verified', async () => {
    const em = app.em();
    em.create(SenderDomainEntity, { projectId: app.project.id, domain: 'pending.org' });
    await em.flush();
    const reply = await app.api('POST', '/templates', { body: { ...content, from: 'hello@pending.org' } });
    expect([reply.status, reply.body.error.details]).toEqual([
      403,
      { reason: 'DOMAIN_NOT_VERIFIED', domain: 'pending.org' },
    ]);
  });

  it.each([
    ['subject', '{{#if name}}Hi', 1, 1],
    ['body', '<p>\n  {{#each items}}x{{/if}}</p>', 2, 19],
    ['body', '{{/each}}', 1, 1],
  ])('refuses a %s that does not compile and says where', async (field, source, line, column) => {
    const reply = await app.api('POST', '/templates', { body: { ...content, [field]: source } });
    expect([reply.status, reply.body.error.code, reply.body.error.details]).toEqual([
      400,
      'BAD_REQUEST',
      { field, line, column },
    ]);
  });

  it('keeps an unclosed {{ as text', async () => {
    expect(await createTemplate({ body: 'a {{ b' })).toMatchObject({ body: 'a {{ b' });
  });
});

describe('PATCH /templates/:id', () => {
  it('changes what is given and clears what is null', async () => {
    const before = await createTemplate({ description: 'Note', fromName: 'Ada', replyTo: 'reply@example.com' });
    const changed = await app.api('PATCH', `/templates/${before.id}`, { body: { name: ' New ', type: 'HEADLESS' } });
    expect(changed.status).toBe(200);
    expect(changed.body).toEqual({ ...before, name: 'New', type: 'HEADLESS', updatedAt: expect.any(String) });
    expect(Date.parse(changed.body.updatedAt)).toBeGreaterThanOrEqual(Date.parse(before.updatedAt));
    const cleared = await app.api('PATCH', `/templates/${before.id}`, {
      body: { description: null, fromName: null, replyTo: null },
    });
    expect(cleared.body).toMatchObject({ name: 'New', description: null, fromName: null, replyTo: null });
    expect((await app.api('GET', `/templates/${before.id}`)).body).toEqual(cleared.body);
  });

  it.each([{}, { unknown: 1 }, { id: 'x', projectId: 'y', createdAt: 'z' }])('changes nothing for %j', async (body) => {
    const before = await createTemplate();
    const reply = await app.api('PATCH', `/templates/${before.id}`, { body });
    expect([reply.status, reply.body]).toEqual([200, before]);
  });

  it.each([
    { name: null },
    { name: ' ' },
    { subject: '' },
    { body: null },
    { from: null },
    { type: null },
    { subject: 'a\nb' },
  ])('refuses %j', async (body) => {
    const before = await createTemplate();
    expect((await app.api('PATCH', `/templates/${before.id}`, { body })).status).toBe(422);
    expect((await app.api('GET', `/templates/${before.id}`)).body).toEqual(before);
  });

  it('checks sender and syntax', async () => {
    const before = await createTemplate();
    const stranger = await app.api('PATCH', `/templates/${before.id}`, {
      body: { name: 'X', from: 'a@elsewhere.org' },
    });
    expect(stranger.status).toBe(403);
    const broken = await app.api('PATCH', `/templates/${before.id}`, { body: { name: 'X', body: '{{#if a}}' } });
    expect([broken.status, broken.body.error.details.field]).toEqual([400, 'body']);
    expect((await app.api('GET', `/templates/${before.id}`)).body).toEqual(before);
  });
});

describe('other template endpoints', () => {
  it('DELETE removes it', async () => {
    const { id } = await createTemplate();
    const reply = await app.api('DELETE', `/templates/${id}`);
    expect([reply.status, reply.body]).toEqual([204, undefined]);
    expect((await app.api('GET', `/templates/${id}`)).body.error.code).toBe('TEMPLATE_NOT_FOUND');
    expect((await app.api('DELETE', `/templates/${id}`)).status).toBe(404);
  });

  it('duplicate answers the copy', async () => {
    const original = await createTemplate({ description: 'Note', fromName: 'Ada', type: 'HEADLESS' });
    const reply = await app.api('POST', `/templates/${original.id}/duplicate`);
    expect(reply.status).toBe(201);
    expect(reply.body).toEqual({
      ...original,
      id: expect.any(String),
      name: 'Welcome (Copy)',
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect(reply.body.id).not.toBe(original.id);
    await app.api('PATCH', `/templates/${reply.body.id}`, { body: { subject: 'Changed' } });
    expect((await app.api('GET', `/templates/${original.id}`)).body).toEqual(original);
  });

  it('usage counts the emails that went out', async () => {
    const { id } = await createTemplate();
    const em = app.em();
    const mails: [EmailStatus, Date | null][] = [
      ['SENT', new Date()],
      ['CLICKED', new Date()],
      ['PENDING', null],
      ['FAILED', null],
    ];
    for (const [status, sentAt] of mails) {
      em.create(EmailEntity, {
        id: uuidV7(),
        projectId: app.project.id,
        templateId: id,
        toAddress: 'a@example.com',
        status,
        sentAt,
        createdAt: new Date(),
      });
    }
    await em.flush();
    const reply = await app.api('GET', `/templates/${id}/usage`);
    expect([reply.status, reply.body]).toEqual([200, { campaigns: [], workflowSteps: [], emailsSent: 2 }]);
  });
});

describe('GET /templates', () => {
  let owner: TestProject;
  beforeAll(async () => {
    owner = await app.createProject();
    await createTemplate({ name: 'Beta', subject: '100% off', description: 'spring', type: 'MARKETING' }, owner);
    await createTemplate({ name: 'alpha', subject: 'Reset_code', type: 'TRANSACTIONAL' }, owner);
    await createTemplate({ name: 'Gamma', subject: 'News', description: 'SPRING and summer' }, owner);
  });

  const names = async (parameters: string): Promise<string[]> => {
    const reply = await owner.api('GET', `/templates?${parameters}`);
    expect(reply.status).toBe(200);
    return reply.body.data.map((template: { name: string }) => template.name);
  };

  it('lists by page', async () => {
    const first = await owner.api('GET', '/templates?pageSize=2');
    expect(first.body).toMatchObject({ page: 1, pageSize: 2, total: 3, totalPages: 2 });
    expect(first.body.data.map((it: { name: string }) => it.name)).toEqual(['Gamma', 'alpha']);
    expect(await names('pageSize=2&page=2')).toEqual(['Beta']);
    expect(await names('page=9')).toEqual([]);
    expect((await owner.api('GET', '/templates?pageSize=5000')).body.pageSize).toBe(100);
    expect((await owner.api('GET', '/templates')).body).toMatchObject({ page: 1, pageSize: 20, totalPages: 1 });
  });

  it('sorts by the field and in the direction that were asked for', async () => {
    expect(await names('sort=createdAt&dir=asc')).toEqual(['Beta', 'alpha', 'Gamma']);
    // The collation of the database decides whether capitals come first.
    const byName = await names('sort=name&dir=asc');
    expect([
      ['alpha', 'Beta', 'Gamma'],
      ['Beta', 'Gamma', 'alpha'],
    ]).toContainEqual(byName);
    expect(await names('sort=name&dir=desc')).toEqual([...byName].reverse());
    expect(await names('sort=shoeSize&dir=up')).toEqual(await names(''));
    const [oldest] = (await owner.api('GET', '/templates?sort=createdAt&dir=asc')).body.data;
    await owner.api('PATCH', `/templates/${oldest.id}`, { body: { fromName: 'Changed' } });
    expect((await names('sort=updatedAt'))[0]).toBe('Beta');
  });

  it('filters by type and searches name, description and subject', async () => {
    expect(await names('type=TRANSACTIONAL')).toEqual(['alpha']);
    expect(await names('search=ALPHA')).toEqual(['alpha']);
    expect(await names('search=spring&sort=createdAt&dir=asc')).toEqual(['Beta', 'Gamma']);
    expect(await names('search=%25')).toEqual(['Beta']);
    expect(await names('search=t_c')).toEqual(['alpha']);
    expect(await names('search=spring&type=TRANSACTIONAL')).toEqual([]);
  });

  it.each(['page=0', 'page=x', 'pageSize=0', 'type=marketing', 'page=99999999999'])(
    'refuses %s',
    async (parameters) => {
      const reply = await owner.api('GET', `/templates?${parameters}`);
      expect([reply.status, reply.body.error.errors[0].field]).toEqual([422, parameters.split('=')[0]]);
    },
  );
});
