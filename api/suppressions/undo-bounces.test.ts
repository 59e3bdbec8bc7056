import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../../shared/database/sql.ts';
import { query, queryOne } from '../../tests/support/rows.ts';
import { recordComplaint, recordHardBounce } from '../../shared/domain/emails/feedback.ts';
import { changeSubscription } from '../../shared/domain/emails/subscription-links.ts';
import { startTestApi, type TestApi, type TestProject } from '../../tests/support/api.ts';
import { runCommand } from '../../tests/support/cli.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

const WORDS = '550 5.7.54 Unable to relay recipient';
const SINCE = '2020-01-01';

interface Bounced {
  contactId: string;
  emailId: string;
  address: string;
}

async function sentEmail(world: TestProject, domain: string): Promise<Bounced> {
  const address = `${randomUUID()}@${domain}`;
  const { body } = await world.api('POST', '/contacts', { body: { email: address } });
  return { ...(await anotherEmail(world, { contactId: body.id, address })), contactId: body.id };
}

async function anotherEmail(world: TestProject, { contactId, address }: Omit<Bounced, 'emailId'>): Promise<Bounced> {
  const emailId = randomUUID();
  await query(
    app.em(),
    sql`
      insert into email (id, project_id, contact_id, to_address, subject, status, created_at)
      values (${emailId}, ${world.project.id}, ${contactId}, ${address}, 'Hello', 'SENT', now())`,
  );
  return { emailId, contactId, address };
}

async function bounce({ emailId }: Bounced, diagnostic = WORDS): Promise<void> {
  await recordHardBounce(app.em(), emailId, { kind: 'hard', rule: 'test.rule', diagnostic, server: 'mx.test' });
}

async function bouncedEmail(world: TestProject, domain = 'mail.test', words = WORDS): Promise<Bounced> {
  const email = await sentEmail(world, domain);
  await bounce(email, words);
  return email;
}

async function stateOf({ contactId, address }: Bounced) {
  const row = await queryOne(
    app.em(),
    sql`
      select c.subscribed, (select count(*) from event e where e.contact_id = c.id and e.name = 'contact.subscribed') as given,
        (select s.reason from suppression s where s.project_id = c.project_id and s.email = ${address}) as suppression
      from contact c where c.id = ${contactId}`,
  );
  return row;
}
const LOST = { subscribed: false, suppression: 'HARD_BOUNCE', given: 0 };
const GIVEN_BACK = { subscribed: true, suppression: null, given: 1 };

async function undo(world: TestProject, body: object = {}) {
  return (await world.api('POST', '/suppressions/undo', { body: { since: SINCE, ...body } })).body;
}

describe('POST /suppressions/undo', () => {
  it('restores the subscription and lifts the suppression, once, with event and activity', async () => {
    const world = await app.createProject();
    const email = await bouncedEmail(world);
    expect(await stateOf(email)).toEqual(LOST);
    const preview = {
      dryRun: true,
      emails: 1,
      subscribed: 1,
      unsuppressed: 1,
      addresses: [email.address],
      hasMore: false,
    };
    expect(await undo(world, { dryRun: true })).toEqual(preview);
    expect(await stateOf(email)).toEqual(LOST);

    expect(await undo(world)).toEqual({ ...preview, dryRun: false });

    expect(await stateOf(email)).toEqual(GIVEN_BACK);
    const { body } = await world.api('GET', '/activity?types=contact.subscribed');
    expect(body.data).toHaveLength(1);
    expect(await undo(world)).toMatchObject({ emails: 0, subscribed: 0, unsuppressed: 0 });
    expect((await stateOf(email))?.given).toBe(1);
  });

  it('undoes more bounces than one chunk holds', async () => {
    const world = await app.createProject();
    const { emailId } = await bouncedEmail(world);
    await query(
      app.em(),
      sql`
        insert into email (id, project_id, to_address, subject, status, bounced_at, refusal, created_at)
        select everpost_uuid_v7(), project_id, n || '@mail.test', 'Hello', 'BOUNCED', bounced_at, refusal, now()
        from email, generate_series(1, 1100) n where id = ${emailId}`,
    );
    expect(await undo(world)).toMatchObject({ emails: 1101, subscribed: 1, unsuppressed: 1 });
  });

  it('undoes only bounces of the given time, provider and words, and only those of the own project', async () => {
    const world = await app.createProject();
    const stranger = await bouncedEmail(await app.createProject());
    const [gmail, other, dead] = [
      await bouncedEmail(world, 'gmail.test'),
      await bouncedEmail(world, 'other.test'),
      await bouncedEmail(world, 'gmail.test', '550 5.1.1 100% no such user'),
    ];
    expect(await undo(world, { until: '2020-01-02' })).toMatchObject({ emails: 0 });
    expect(await undo(world, { since: '2999-01-01' })).toMatchObject({ emails: 0 });
    expect(await undo(world, { words: 'RELAY_RECIPIENT' })).toMatchObject({ emails: 0 });
    expect(await undo(world, { provider: 'Gmail.test', words: 'UNABLE to relay' })).toMatchObject({ emails: 1 });
    expect(await stateOf(gmail)).toEqual(GIVEN_BACK);
    for (const email of [other, dead, stranger]) expect(await stateOf(email)).toEqual(LOST);
  });

  it('keeps a person’s own unsubscription, whether it came before or after the bounce', async () => {
    const world = await app.createProject();
    const before = await sentEmail(world, 'mail.test');
    await world.api('PATCH', `/contacts/${before.contactId}`, { body: { subscribed: false } });
    await bounce(before);
    const wishes: ((email: Bounced) => Promise<unknown>)[] = [
      (email) => changeSubscription(app.em(), email, false),
      ({ contactId }) => world.api('PATCH', `/contacts/${contactId}`, { body: { subscribed: false } }),
      ({ address }) => world.api('POST', '/contacts', { body: { email: address, subscribed: false } }),
      ({ address }) =>
        world.api('POST', '/v1/track', { key: 'public', body: { email: address, event: 'left', subscribed: false } }),
    ];
    const after: Bounced[] = [];
    for (const wish of wishes) {
      const email = await bouncedEmail(world);
      await wish(email);
      after.push(email);
    }
    expect(await undo(world)).toMatchObject({ emails: 5, subscribed: 0, unsuppressed: 5 });
    for (const email of [before, ...after]) {
      expect(await stateOf(email)).toEqual({ subscribed: false, suppression: null, given: 0 });
    }
  });

  it('does not subscribe somebody who complained, before or after the bounce', async () => {
    const world = await app.createProject();
    const first = await sentEmail(world, 'mail.test');
    await recordComplaint(app.em(), (await anotherEmail(world, first)).emailId);
    await bounce(first);
    const second = await bouncedEmail(world);
    await recordComplaint(app.em(), (await anotherEmail(world, second)).emailId);
    expect(await undo(world)).toMatchObject({ subscribed: 0, unsuppressed: 0 });
    for (const email of [first, second]) {
      expect(await stateOf(email)).toEqual({ subscribed: false, suppression: 'COMPLAINT', given: 0 });
    }
  });

  it('refuses invalid times, domains and words', async () => {
    for (const body of [{}, { since: 'yesterday' }, { since: SINCE, provider: '@' }, { since: SINCE, words: '' }]) {
      expect((await app.api('POST', '/suppressions/undo', { body })).status).toBe(422);
    }
  });
});

describe('everpost bounces undo', () => {
  const run = (...args: string[]) => runCommand(['bounces', 'undo', ...args], { DATABASE_URL: app.database.url });

  it('shows what it would do, then does it, for one project or for all', async () => {
    const [one, other] = [await app.createProject(), await app.createProject()];
    const [first, second] = [await bouncedEmail(one), await bouncedEmail(other)];
    const dry = await run('--since', SINCE, '--project', one.project.id, '--dry-run');
    expect(dry).toMatchObject({ exitCode: 0, out: expect.stringContaining(first.address) });
    expect(await stateOf(first)).toEqual(LOST);

    const done = await run('--since', SINCE, '--project', one.project.id, '--json');
    expect(JSON.parse(done.out)).toMatchObject({
      dryRun: false,
      projects: [{ projectId: one.project.id, subscribed: 1 }],
    });
    expect([await stateOf(first), await stateOf(second)]).toEqual([GIVEN_BACK, LOST]);

    expect((await run('--since', SINCE)).exitCode).toBe(0);
    expect(await stateOf(second)).toEqual(GIVEN_BACK);
    expect((await run('--since', SINCE, '--project', one.project.id)).out).toContain('No hard bounce');
    expect(await run('--since', 'yesterday')).toMatchObject({ exitCode: 1, error: expect.stringContaining('--since') });
  });
});
