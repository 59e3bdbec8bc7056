import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../../shared/database/sql.ts';
import { startTestApi, type TestApi, type TestProject } from '../../tests/support/api.ts';
import { runCommand } from '../../tests/support/cli.ts';
import { testConfig } from '../../tests/support/config.ts';
import { query } from '../../tests/support/rows.ts';
import { effectOf, keyKindOf } from '../http/endpoint.ts';
import { createEndpoints } from '../routes.ts';

const UNKNOWN_ID = '01890000-0000-7000-8000-000000000000';
const table = createEndpoints(testConfig()).map((definition) => [definition.operationId, definition] as const);

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi({ config: { API_RATE_LIMIT_PER_MINUTE: 100_000 } });
});
afterAll(() => app.stop());

const entriesOf = async (owner: TestProject, filters = '') =>
  (await owner.api('GET', `/audit?limit=500${filters}`, { key: 'secret' })).body.entries as any[];

async function createKey(owner: TestProject, role: string): Promise<{ id: string; key: string }> {
  return (await owner.api('POST', '/keys', { body: { name: `The ${role} key`, role } })).body;
}

describe('a request', () => {
  it.each(table)('is recorded if it writes or exports, whatever its outcome: %s', async (operation, definition) => {
    if (operation === 'regenerateProjectKeys') return;
    const requestId = `request-${operation}`;
    const path = definition.path.replaceAll(/:(\w+)/g, (_, part: string) => (part === 'eventName' ? 'e' : UNKNOWN_ID));
    const reply = await app.api(definition.method, path, {
      key: keyKindOf(definition),
      headers: { 'x-request-id': requestId },
      ...(definition.method !== 'get' && { body: {} }),
    });
    const found = (await entriesOf(app)).filter((entry) => entry.requestId === requestId);
    // A body that could not be read was no request yet.
    if ((effectOf(definition) !== 'writes' && !definition.isAudited) || reply.status === 415) expect(found).toEqual([]);
    else {
      expect(found).toMatchObject([
        { operation, status: reply.status, actor: 'key', keyName: 'Secret key', keyId: expect.any(String) },
      ]);
      expect(found[0].outcome).toBe(reply.status < 400 ? 'done' : 'refused');
      if (path.includes(UNKNOWN_ID)) expect(found[0].subjectIds).toContain(UNKNOWN_ID);
    }
  });

  it('is recorded when the role of its key refuses it', async () => {
    const owner = await app.createProject();
    const read = await createKey(owner, 'read');
    await owner.api('DELETE', `/contacts/${UNKNOWN_ID}`, { key: read.key });
    await owner.api('GET', '/contacts', { key: read.key });
    await owner.api('POST', '/v1/send', { key: read.key, body: {} });
    await owner.api('DELETE', `/keys/${read.id}`);
    expect(await entriesOf(owner)).toMatchObject([
      { operation: 'endKey', outcome: 'done', status: 204, subjectIds: [read.id], keyName: 'Secret key' },
      {
        operation: 'deleteContact',
        outcome: 'refused',
        status: 403,
        subjectIds: [UNKNOWN_ID],
        keyId: read.id,
        keyName: 'The read key',
      },
      { operation: 'createKey', outcome: 'done', status: 201, subjectIds: [read.id] },
    ]);
  });

  it('leaves ids in its entry, and no address or content', async () => {
    const owner = await app.createProject();
    const { body: contact } = await owner.api('POST', '/contacts', { body: { email: 'ada.secret@mail.test' } });
    await owner.api('PATCH', `/contacts/${contact.id}`, { body: { data: { word: 'hushhush' } } });
    await owner.api('POST', '/suppressions', { body: { emails: ['ada.secret@mail.test'] } });
    await owner.api('DELETE', '/suppressions/ada.secret@mail.test');
    await owner.api('DELETE', `/contacts/${contact.id}`);
    const contacts = [{ email: 'none' }, { email: 'bob.secret@mail.test' }];
    const { body: bulk } = await owner.api('POST', '/contacts/bulk', { body: { contacts } });
    const entries = await entriesOf(owner);
    expect(entries.map(({ operation, subjectIds }) => [operation, subjectIds])).toEqual([
      ['upsertContacts', [bulk.results[1].id]],
      ['deleteContact', [contact.id]],
      ['removeSuppression', []],
      ['addSuppressions', []],
      ['updateContact', [contact.id]],
    ]);
    const stored = await query(app.em(), sql`select to_jsonb(a)::text as text from audit_entry a`);
    expect(JSON.stringify(stored)).not.toMatch(/\.secret|hushhush|[sp]k_[0-9a-f]/);
  });

  it('is recorded in its own transaction: without the entry it has no effect', async () => {
    const owner = await app.createProject();
    await query(app.em(), sql`alter table audit_entry add constraint refuse_all check (false) not valid`);
    try {
      const reply = await owner.api('POST', '/templates', {
        body: { name: 'T', subject: 'S', body: 'B', from: 'a@example.com' },
      });
      expect(reply.status).toBe(500);
    } finally {
      await query(app.em(), sql`alter table audit_entry drop constraint refuse_all`);
    }
    expect((await owner.api('GET', '/templates')).body.total).toBe(0);
  });
});

describe('GET /audit', () => {
  it('finds by operation, key, subject, actor, outcome and time, page by page', async () => {
    const owner = await app.createProject();
    const marketing = await createKey(owner, 'marketing');
    const body = { name: 'T', subject: 'S', body: 'B', from: 'a@example.com' };
    const { body: template } = await owner.api('POST', '/templates', { key: marketing.key, body });
    const console = { headers: { 'everpost-console': '1' } };
    await owner.api('PATCH', `/templates/${template.id}`, { body: { name: 'U' }, ...console });
    await owner.api('POST', '/templates', { body: {} });
    const found = async (filters: string) => (await entriesOf(owner, filters)).map(({ operation }) => operation);
    expect(await found('')).toEqual(['createTemplate', 'updateTemplate', 'createTemplate', 'createKey']);
    expect(await found('&operation=createKey')).toEqual(['createKey']);
    expect(await found(`&keyId=${marketing.id}`)).toEqual(['createTemplate']);
    expect(await found(`&subjectId=${template.id}`)).toEqual(['updateTemplate', 'createTemplate']);
    expect(await found('&actor=console')).toEqual(['updateTemplate']);
    expect(await found('&outcome=refused')).toEqual(['createTemplate']);
    expect(await found('&outcome=failed')).toEqual([]);
    const { createdAt } = template;
    const later = new Date(Date.parse(createdAt) + 3_600_000).toISOString();
    expect(await found(`&from=${later}`)).toEqual([]);
    expect(await found(`&to=${later}`)).toHaveLength(4);
    const pages: string[] = [];
    let cursor = '';
    do {
      const page = await owner.api('GET', `/audit?limit=1${cursor && `&cursor=${cursor}`}`);
      pages.push(...page.body.entries.map(({ operation }: { operation: string }) => operation));
      cursor = page.body.cursor;
    } while (cursor !== '');
    expect(pages).toEqual(await found(''));
    expect((await owner.api('GET', '/audit?cursor=x')).status).toBe(400);
    expect((await owner.api('GET', '/audit?from=yesterday')).status).toBe(422);
    expect(await found('&to=2020-01-01')).toEqual([]);
    expect(await entriesOf(await app.createProject())).toEqual([]);
  });

  it('has operator commands of the project, refused ones too, and none that only read', async () => {
    const owner = await app.createProject();
    const environment = { DATABASE_URL: app.database.url };
    const run = (...args: string[]) => runCommand(args, environment);
    const { id } = owner.project;
    const created = await run('key', 'create', id, '--name', 'Spare', '--role', 'full', '--json');
    const key = JSON.parse(created.out);
    await run('key', 'list', id);
    await run('project', 'keys', id);
    await run('key', 'end', id, key.id);
    await run('key', 'end', id, key.id);
    expect(await entriesOf(owner)).toMatchObject([
      { operation: 'key end', actor: 'operator', outcome: 'refused', status: 404, keyId: null, keyName: null },
      { operation: 'key end', outcome: 'done', subjectIds: [id, key.id] },
      { operation: 'key create', outcome: 'done', subjectIds: [id, key.id] },
    ]);
  });

  it('shows that an operator ends even the last full key, and creates another', async () => {
    const owner = await app.createProject();
    const environment = { DATABASE_URL: app.database.url };
    const { id } = owner.project;
    const [full] = (await owner.api('GET', '/keys')).body;
    expect((await runCommand(['key', 'end', id, full.id], environment)).exitCode).toBe(0);
    expect((await owner.api('GET', '/keys')).status).toBe(401);
    const args = ['key', 'create', id, '--name', 'Again', '--role', 'full', '--json'];
    const { key } = JSON.parse((await runCommand(args, environment)).out);
    expect((await owner.api('GET', '/keys', { key })).status).toBe(200);
  });
});

it('a campaign says who sent, paused and resumed it', async () => {
  const owner = await app.createProject();
  const marketing = await createKey(owner, 'marketing');
  await owner.api('POST', '/contacts', { body: { email: 'a@mail.test' } });
  const { body } = await owner.api('POST', '/campaigns', {
    body: { name: 'N', subject: 'S', body: 'B', from: 'a@example.com', audienceType: 'ALL' },
  });
  const { id } = body.data;
  const act = (verb: string, key: string) => owner.api('POST', `/campaigns/${id}/${verb}`, { key, body: {} });
  await act('pause', 'secret');
  expect((await act('send', marketing.key)).status).toBe(200);
  expect((await act('pause', 'secret')).status).toBe(200);
  expect((await act('resume', marketing.key)).status).toBe(200);
  const { body: history } = await owner.api('GET', `/campaigns/${id}/history`);
  expect(history.entries).toMatchObject([
    { operation: 'resumeCampaign', keyName: 'The marketing key', subjectIds: [id] },
    { operation: 'pauseCampaign', keyName: 'Secret key' },
    { operation: 'sendCampaign', keyName: 'The marketing key' },
  ]);
});
