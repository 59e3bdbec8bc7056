import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createPermitStore } from '../../shared/domain/emails/permit-store.ts';
import { v7 as uuidV7 } from 'uuid';
import { query, sql } from '../../shared/database/sql.ts';
import { startTestApi, type TestApi, type TestProject } from '../../tests/support/api.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

interface SeededEmail {
  owner?: TestProject;
  address?: string;
  status?: string;
  at?: string;
  contactId?: string;
  campaignId?: string;
  seq?: number;
  templateId?: string;
  workflowId?: string;
}

async function addEmail(email: SeededEmail = {}): Promise<string> {
  const id = uuidV7();
  const { owner = app, address = `${id}@mail.test`, status = 'SENT', at = '2026-03-01T12:00:00Z' } = email;
  await query(
    app.em(),
    sql`
      insert into email (id, project_id, contact_id, campaign_id, campaign_seq, template_id, automation_id, to_address, subject,
        status, created_at)
      values (${id}, ${owner.project.id}, ${email.contactId ?? null}, ${email.campaignId ?? null}, ${email.seq ?? null},
        ${email.templateId ?? null}, ${email.workflowId ?? null}, ${address}, 'Hello', ${status}, ${at}::timestamptz)`,
  );
  return id;
}

async function change(id: string, columns: Record<string, unknown>): Promise<void> {
  for (const [name, value] of Object.entries(columns)) {
    await app.orm.em.fork().getConnection().execute(`update email set ${name} = ? where id = ?`, [value, id]);
  }
}

async function addEvent(owner: TestProject, emailId: string, contactId: string | null, name: string, data: object) {
  await query(
    app.em(),
    sql`
      insert into event (id, project_id, contact_id, email_id, name, data, created_at)
      values (${uuidV7()}, ${owner.project.id}, ${contactId}, ${emailId}, ${name}, ${JSON.stringify(data)}::jsonb,
        clock_timestamp())`,
  );
}

async function createContact(owner: TestProject, email = `${uuidV7()}@mail.test`): Promise<string> {
  return (await owner.api('POST', '/contacts', { body: { email } })).body.id;
}

const idsOf = async (owner: TestProject, search: string): Promise<string[]> => {
  const { status, body } = await owner.api('GET', `/emails?${search}`);
  expect([status, body]).toEqual([200, expect.objectContaining({ emails: expect.any(Array) })]);
  return body.emails.map((email: any) => email.id);
};

/** Every page of a list. */
async function readAll(owner: TestProject, search: string): Promise<string[]> {
  const seen: string[] = [];
  for (let cursor = ''; ;) {
    const { body } = await owner.api('GET', `/emails?${search}&cursor=${cursor}`);
    seen.push(...body.emails.map((email: any) => email.id));
    if (!body.hasMore) return seen;
    cursor = body.cursor;
  }
}

describe('GET /emails', () => {
  it('filters by address, contact, campaign, template, workflow, state and time, together too', async () => {
    const owner = await app.createProject();
    const contactId = await createContact(owner, 'ada@mail.test');
    const [templateId, workflowId, campaignId] = [uuidV7(), uuidV7(), uuidV7()];
    const ada = await addEmail({ owner, address: 'ada@mail.test', contactId, at: '2026-03-01T10:00:00Z' });
    const failed = await addEmail({ owner, status: 'FAILED', contactId, templateId, at: '2026-03-02T10:00:00Z' });
    const automated = await addEmail({ owner, workflowId, at: '2026-03-03T10:00:00Z' });
    const recipients: string[] = [];
    for (const seq of [1, 2])
      recipients.push(await addEmail({ owner, campaignId, seq, status: seq === 1 ? 'BOUNCED' : 'SENT' }));
    expect(await idsOf(owner, 'address=Ada@MAIL.test')).toEqual([ada]);
    expect(await idsOf(owner, `contactId=${contactId}`)).toEqual([failed, ada]);
    expect(await idsOf(owner, `contactId=${contactId}&status=FAILED`)).toEqual([failed]);
    expect(await idsOf(owner, `templateId=${templateId}`)).toEqual([failed]);
    expect(await idsOf(owner, `workflowId=${workflowId}`)).toEqual([automated]);
    expect(await idsOf(owner, `campaignId=${campaignId}`)).toEqual([...recipients].reverse());
    expect(await idsOf(owner, `campaignId=${campaignId}&status=BOUNCED`)).toEqual([recipients[0]]);
    expect(await idsOf(owner, 'status=FAILED')).toEqual([failed]);
    expect(await idsOf(owner, 'since=2026-03-02&until=2026-03-02')).toEqual([failed]);
    expect(await idsOf(owner, 'since=2026-03-03')).toEqual([automated]);
    expect(await idsOf(owner, 'type=TRANSACTIONAL')).toHaveLength(5);
    expect(await idsOf(owner, 'type=MARKETING')).toEqual([]);
  });

  it('finds the emails to an address under every contact that has or had it, and those without a contact', async () => {
    const owner = await app.createProject();
    const [old, now] = ['ada@old.test', 'ada@new.test'];
    const ada = await createContact(owner, old);
    const before = await addEmail({ owner, address: old, contactId: ada, campaignId: uuidV7(), seq: 1 });
    expect((await owner.api('PATCH', `/contacts/${ada}`, { body: { email: now } })).status).toBe(200);
    const after = await addEmail({ owner, address: now, contactId: ada });
    const heir = await createContact(owner, old);
    const ofHeir = await addEmail({ owner, address: old, contactId: heir });
    const ofNobody = await addEmail({ owner, address: old });
    expect(await idsOf(owner, `address=${old}`)).toEqual([ofNobody, ofHeir, before]);
    expect(await readAll(owner, `address=${old}&limit=1`)).toEqual([ofNobody, ofHeir, before]);
    expect(await idsOf(owner, `address=${now}`)).toEqual([after]);
    expect(await idsOf(owner, `address=${old}&contactId=${ada}`)).toEqual([before]);

    expect((await owner.api('DELETE', `/contacts/${ada}`)).status).toBe(204);
    expect(await idsOf(owner, `address=${old}`)).toEqual([ofNobody, ofHeir]);
  });

  it.each(['', 'address=ada@mail.test', 'status=FAILED', 'campaign'])(
    'comes in pages that together are the whole, without gaps or repeats: %s',
    async (filter) => {
      const owner = await app.createProject();
      const [contactId, campaignId] = [await createContact(owner, 'ada@mail.test'), uuidV7()];
      const all: string[] = [];
      for (let seq = 1; seq <= 7; seq++) {
        const origin = filter === 'campaign' ? { campaignId, seq } : seq % 2 === 0 ? { contactId } : {};
        all.push(await addEmail({ owner, address: 'ada@mail.test', status: 'FAILED', ...origin }));
      }
      const search = filter === 'campaign' ? `campaignId=${campaignId}` : filter;
      for (const limit of [1, 3, 7])
        expect(await readAll(owner, `${search}&limit=${limit}`)).toEqual([...all].reverse());
    },
  );

  it('goes on after a cursor where a filter fits few of very many emails', async () => {
    const owner = await app.createProject();
    const rare = await addEmail({ owner, templateId: uuidV7(), at: '2026-01-01T00:00:00Z' });
    await query(
      app.em(),
      sql`
        insert into email (id, project_id, to_address, status, created_at)
        select everpost_uuid_v7(), ${owner.project.id}, n || '@mail.test', 'SENT', now() from generate_series(1, 6000) n`,
    );
    const search = 'type=HEADLESS';
    const first = await owner.api('GET', `/emails?${search}`);
    expect(first.body).toEqual({ emails: [], cursor: expect.stringMatching(/./), hasMore: true });
    expect(await readAll(owner, search)).toEqual([]);
    expect((await readAll(owner, 'type=TRANSACTIONAL&limit=100')).at(-1)).toBe(rare);
  });

  it.each([
    ['status=LOST', 'status'],
    ['status=', 'status'],
    ['type=SPAM', 'type'],
    ['contactId=7', 'contactId'],
    ['campaignId=x', 'campaignId'],
    ['since=yesterday', 'since'],
    ['until=2026-02-30', 'until'],
    ['limit=0', 'limit'],
    ['state=FAILED', 'state'],
    ['status[]=FAILED', 'status[]'],
  ])('refuses %s and names the field', async (search, field) => {
    const { status, body } = await app.api('GET', `/emails?${search}`);
    expect([status, body.error.errors[0].field]).toEqual([422, field]);
  });

  it('refuses a cursor of another list', async () => {
    const cursor = Buffer.from('{"seq":"1"}').toString('base64url');
    const { status, body } = await app.api('GET', `/emails?cursor=${cursor}`);
    expect([status, body.error.details]).toEqual([400, { field: 'cursor' }]);
  });

  it('shows nothing of another project, whichever of its ids is known', async () => {
    const other = await app.createProject();
    const contactId = await createContact(other);
    const campaignId = uuidV7();
    const id = await addEmail({ owner: other, address: 'ada@other.test', contactId, campaignId, seq: 1 });
    const me = await app.createProject();
    for (const search of [`contactId=${contactId}`, `campaignId=${campaignId}`, 'address=ada@other.test', ''])
      expect((await me.api('GET', `/emails?${search}`)).body).toEqual({ emails: [], cursor: '', hasMore: false });
    expect((await me.api('GET', `/emails/${id}`)).status).toBe(404);
    expect((await me.api('GET', '/emails/7')).status).toBe(404);
  });
});

describe('GET /emails/:id', () => {
  it('lists everything that happened to the email, in order', async () => {
    const contactId = await createContact(app);
    const id = await addEmail({ status: 'BOUNCED', contactId });
    await change(id, {
      attempts: JSON.stringify([
        {
          at: '2026-03-01T12:00:05.000Z',
          verdict: 'deferred',
          server: 'mx.test',
          words: '450 later',
          nextAt: '2026-03-01T12:01:00.000Z',
        },
      ]),
      sent_at: '2026-03-01T12:01:00Z',
      unsubscribed_at: '2026-03-01T13:00:00Z',
    });
    await addEvent(app, id, contactId, 'email.open', { isFirstOpen: true });
    await addEvent(app, id, contactId, 'email.click', { link: 'https://a.test/' });
    await addEvent(app, id, contactId, 'email.bounce', {
      bounceType: 'hard',
      diagnostic: '550 5.1.1',
      rule: 'no-such-user',
      server: 'mx.test',
    });
    const { status, body } = await app.api('GET', `/emails/${id}`);
    expect(status).toBe(200);
    expect(body.waiting).toBeNull();
    expect(body.timeline).toEqual([
      { at: '2026-03-01T12:00:00.000Z', type: 'queued' },
      {
        at: '2026-03-01T12:00:05.000Z',
        type: 'deferred',
        server: 'mx.test',
        words: '450 later',
        nextAttemptAt: '2026-03-01T12:01:00.000Z',
      },
      { at: '2026-03-01T12:01:00.000Z', type: 'accepted' },
      { at: '2026-03-01T13:00:00.000Z', type: 'unsubscribed' },
      { at: expect.any(String), type: 'opened' },
      { at: expect.any(String), type: 'clicked', link: 'https://a.test/' },
      {
        at: expect.any(String),
        type: 'bounced',
        bounceType: 'hard',
        words: '550 5.1.1',
        rule: 'no-such-user',
        server: 'mx.test',
      },
    ]);
  });

  it('shows what the record says when the events of the email are gone', async () => {
    const id = await addEmail({ status: 'COMPLAINED' });
    await change(id, {
      sent_at: '2026-03-01T12:01:00Z',
      opened_at: '2026-03-01T12:02:00Z',
      complained_at: '2026-03-01T12:03:00Z',
    });
    const { body } = await app.api('GET', `/emails/${id}`);
    expect(body.timeline.map((entry: any) => entry.type)).toEqual(['queued', 'accepted', 'opened', 'complained']);
  });

  it('says why an email waits, and until when', async () => {
    const owner = await app.createProject();
    const id = await addEmail({ owner, status: 'PENDING' });
    const waiting = async () => {
      const { waiting: found } = (await owner.api('GET', `/emails/${id}`)).body;
      // A hold is stored with the time until its end.
      const untilMs = Math.round(Date.parse(found?.until) / 10_000) * 10_000;
      return found && { ...found, until: found.until && new Date(untilMs).toISOString() };
    };
    expect(await waiting()).toEqual({ reason: 'queued', until: null, words: null });
    const store = createPermitStore(app.em, 0);
    const until = '2099-05-01T00:00:00.000Z';
    const words = 'No mail server answers';
    await store.note(owner.project.id, 'transactional', { level: 'installation', reason: 'no relay', words, until });
    expect(await waiting()).toEqual({ reason: 'no relay', until, words });
    await store.note(owner.project.id, 'transactional', { level: 'project', reason: 'throttled', words: null, until });
    await store.note(owner.project.id, 'campaign', { level: 'installation', reason: 'no relay', words, until });
    expect(await waiting()).toEqual({ reason: 'throttled', until, words: null });
    const deferral = {
      at: '2026-03-01T12:00:05.000Z',
      verdict: 'deferred',
      server: 'mx.test',
      words: '450',
      nextAt: until,
    };
    await change(id, {
      retry_at: until,
      error: '450 later',
      wait_reason: 'deferred',
      attempts: JSON.stringify([deferral]),
    });
    expect(await waiting()).toEqual({ reason: 'deferred', until, words: '450 later' });
    await change(id, {
      retry_at: '2099-05-02T00:00:00Z',
      error: 'The provider refuses our emails',
      wait_reason: 'provider paused',
    });
    expect(await waiting()).toEqual({
      reason: 'provider paused',
      until: '2099-05-02T00:00:00.000Z',
      words: 'The provider refuses our emails',
    });
    await change(id, { status: 'SENDING' });
    expect(await waiting()).toBeNull();
  });
});
