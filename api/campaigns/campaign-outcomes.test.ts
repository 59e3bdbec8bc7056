import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { sql } from '../../shared/database/sql.ts';
import { createTestProject, startTestApi, type TestApi, type TestProject } from '../../tests/support/api.ts';
import { query } from '../../tests/support/rows.ts';

let app: TestApi;
let other: TestProject;
beforeAll(async () => {
  app = await startTestApi();
  other = await createTestProject(app.em(), app.url);
});
afterAll(() => app.stop());

interface NewRecipient {
  status?: string;
  words?: string;
  /** Where it was clicked; `machine:` before it for a machine. */
  clicks?: string[];
  /** The contact's fields; null for one that is gone. */
  contact?: { subscribed?: boolean; pausedUntil?: Date } | null;
  email?: string;
}

/** A campaign that was sent, with these recipients. */
async function sentCampaign(owner: TestProject, recipients: NewRecipient[], status = 'SENT'): Promise<string> {
  const [id, projectId] = [uuidV7(), owner.project.id];
  await query(
    app.em(),
    sql`
      insert into campaign (id, project_id, name, subject, body, from_address, status, audience_type, audience_frozen,
        total_recipients, created_at, updated_at)
      values (${id}, ${projectId}, 'Spring', 'S', 'B', 'us@example.com', ${status}, 'ALL', true, ${recipients.length},
        now(), now())`,
  );
  for (const [n, { status: state = 'SENT', words, clicks = [], contact = {}, email }] of recipients.entries()) {
    const [emailId, contactId] = [uuidV7(), uuidV7()];
    const address = email ?? `p${n + 1}@${id}.test`;
    if (contact) {
      const { subscribed = true, pausedUntil = null } = contact;
      await query(
        app.em(),
        sql`
          insert into contact (id, project_id, email, subscribed, paused_until, data, created_at, updated_at)
          values (${contactId}, ${projectId}, ${address}, ${subscribed}, ${pausedUntil}, '{}', now(), now())`,
      );
    }
    await query(
      app.em(),
      sql`
        insert into email (id, project_id, contact_id, campaign_id, campaign_seq, to_address, status, error, created_at, clicked_at)
        values (${emailId}, ${projectId}, ${contactId}, ${id}, ${n + 1}, ${address}, ${state}, ${words ?? null}, now(),
          ${clicks.length > 0 ? new Date() : null})`,
    );
    for (const click of clicks) {
      const link = click.replace('machine:', '');
      const data = JSON.stringify({ link, ...(click !== link && { isMachine: true }) });
      await query(
        app.em(),
        sql`
          insert into event (id, project_id, contact_id, email_id, name, data, created_at)
          values (${uuidV7()}, ${projectId}, ${contactId}, ${emailId}, 'email.click', ${data}::jsonb, now())`,
      );
    }
  }
  return id;
}

describe.each(['links', 'unreached', 'recipients?state=UNREACHED', 'resend/check'])('/campaigns/:id/%s', (part) => {
  const ask = (id: string, owner: TestProject = app) =>
    part === 'resend/check'
      ? owner.api('POST', `/campaigns/${id}/${part}`, { body: { states: ['FAILED'] } })
      : owner.api('GET', `/campaigns/${id}/${part}`);

  it('is not found for another project, a campaign that is gone, or no id', async () => {
    const id = await sentCampaign(app, [{ status: 'FAILED' }]);
    expect((await ask(id)).status).toBe(200);
    for (const reply of [await ask(id, other), await ask(uuidV7())])
      expect([reply.status, reply.body.error.code]).toEqual([404, 'CAMPAIGN_NOT_FOUND']);
    expect((await ask('x')).body.error.code).toBe('VALIDATION_ERROR');
    await app.api('DELETE', `/campaigns/${id}`);
    expect((await ask(id)).status).toBe(404);
  });

  it('answers nothing for a campaign that nobody got', async () => {
    const answers = {
      links: { links: [] },
      unreached: { reasons: [] },
      'resend/check': { matching: 0, receiving: 0 },
      'recipients?state=UNREACHED': { recipients: [], cursor: '', hasMore: false },
    };
    expect((await ask(await sentCampaign(app, []))).body).toEqual(answers[part as keyof typeof answers]);
  });
});

describe('GET /campaigns/:id/links', () => {
  it('counts people and clicks, and no machines', async () => {
    const id = await sentCampaign(app, [
      { clicks: ['https://a.test/', 'https://a.test/', 'https://b.test/?x=1&y="'] },
      { clicks: ['https://a.test/', 'machine:https://a.test/', 'machine:https://c.test/'] },
      { clicks: ['https://b.test/?x=1&y="'] },
      {},
    ]);
    await sentCampaign(app, [{ clicks: ['https://elsewhere.test/'] }]);
    expect((await app.api('GET', `/campaigns/${id}/links`)).body.links).toEqual([
      { url: 'https://a.test/', recipients: 2, clicks: 3 },
      { url: 'https://b.test/?x=1&y="', recipients: 2, clicks: 2 },
    ]);
  });

  it('lists the fifty that most people clicked', async () => {
    const many = Array.from({ length: 60 }, (_, n) => `https://a.test/${String(n).padStart(2, '0')}`);
    const id = await sentCampaign(app, [{ clicks: many }, { clicks: ['https://a.test/59'] }]);
    const { links } = (await app.api('GET', `/campaigns/${id}/links`)).body;
    expect([links.length, links[0]]).toEqual([50, { url: 'https://a.test/59', recipients: 2, clicks: 2 }]);
    expect(links.at(-1).url).toBe('https://a.test/48');
  });
});

describe('GET /campaigns/:id/unreached', () => {
  it('gathers words that differ in addresses and ids alone', async () => {
    const id = await sentCampaign(app, [
      { status: 'BOUNCED', words: '550 5.1.1 <a@x.test> unknown, id 4Xk29dPq1z77' },
      { status: 'BOUNCED', words: '550 5.1.1 <bb@y.test> unknown, id 9Zk29dPq1z70' },
      { status: 'FAILED', words: '550 5.1.1 <c@x.test> unknown, id 1Ak29dPq1z77' },
      { status: 'SUPPRESSED', words: 'The address is suppressed' },
      { status: 'SKIPPED' },
      { status: 'COMPLAINED', words: 'spam' },
      ...['SENT', 'DELIVERED', 'PENDING'].map((status) => ({ status, words: 'later' })),
    ]);
    expect((await app.api('GET', `/campaigns/${id}/unreached`)).body.reasons).toEqual([
      { state: 'BOUNCED', words: '550 5.1.1 … unknown, id …', recipients: 2 },
      { state: 'FAILED', words: '550 5.1.1 … unknown, id …', recipients: 1 },
      { state: 'SKIPPED', words: '', recipients: 1 },
      { state: 'SUPPRESSED', words: 'The address is suppressed', recipients: 1 },
    ]);
  });
});

describe('GET /campaigns/:id/recipients?state=UNREACHED', () => {
  it('lists every state of who did not get it, page by page, also as CSV', async () => {
    const states = [
      'SENT',
      'BOUNCED',
      'FAILED',
      'COMPLAINED',
      'SKIPPED',
      'SUPPRESSED',
      'CANCELLED',
      'PENDING',
      'CLICKED',
    ];
    const id = await sentCampaign(
      app,
      [...states, ...states].map((status) => ({ status })),
    );
    const seen: any[] = [];
    for (let cursor = '', hasMore = true; hasMore;) {
      const { body } = await app.api('GET', `/campaigns/${id}/recipients?state=UNREACHED&limit=3&cursor=${cursor}`);
      expect(body.recipients.length).toBeLessThanOrEqual(3);
      seen.push(...body.recipients);
      ({ cursor, hasMore } = body);
    }
    const unreached = ['CANCELLED', 'SUPPRESSED', 'SKIPPED', 'FAILED', 'BOUNCED'];
    expect(seen.map(({ state }) => state)).toEqual([...unreached, ...unreached]);
    expect(new Set(seen.map(({ emailId }) => emailId)).size).toBe(10);
    const { reasons } = (await app.api('GET', `/campaigns/${id}/unreached`)).body;
    expect(reasons.reduce((sum: number, { recipients }: any) => sum + Number(recipients), 0)).toBe(10);
    const csv = await fetch(`${app.url}/campaigns/${id}/recipients?state=UNREACHED&format=csv`, {
      headers: { authorization: `Bearer ${app.keys.secretKey}` },
    });
    expect((await csv.text()).trim().split('\r\n')).toHaveLength(11);
    expect((await app.api('GET', `/campaigns/${id}/recipients?state=unreached`)).status).toBe(422);
  });
});

describe('POST /campaigns/:id/resend/check', () => {
  it('counts who is in the states, and who of them may get it', async () => {
    const blocked = 'blocked@resend-check.test';
    const id = await sentCampaign(app, [
      { status: 'FAILED' },
      { status: 'FAILED', contact: null },
      { status: 'FAILED', contact: { subscribed: false } },
      { status: 'FAILED', contact: { pausedUntil: new Date(Date.now() + 3_600_000) } },
      { status: 'FAILED', contact: { pausedUntil: new Date(Date.now() - 3_600_000) } },
      { status: 'FAILED', email: blocked },
      { status: 'BOUNCED' },
      { status: 'SENT' },
    ]);
    await app.api('POST', '/suppressions', { body: { emails: [blocked] } });
    const check = async (...states: string[]) => app.api('POST', `/campaigns/${id}/resend/check`, { body: { states } });
    expect((await check('FAILED')).body).toEqual({ matching: 6, receiving: 2 });
    expect((await check('FAILED', 'BOUNCED', 'FAILED')).body).toEqual({ matching: 7, receiving: 3 });
    expect((await check('SKIPPED')).body).toEqual({ matching: 0, receiving: 0 });
    for (const states of [[], ['SENT'], ['failed'], ['FAILED', 'DELIVERED']])
      expect([states, (await check(...states)).status]).toEqual([states, 422]);
    expect((await app.api('GET', `/campaigns/${id}`)).body.status).toBe('SENT');
  });
});
