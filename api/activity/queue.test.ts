import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { query, sql } from '../../shared/database/sql.ts';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';
import { campaignContent } from '../../tests/support/campaigns.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

async function addEmails(projectId: string, dueSeconds: number[]): Promise<void> {
  await query(
    app.em(),
    sql`
      insert into email (id, project_id, to_address, status, created_at, delivery_due_at)
      select everpost_uuid_v7(), ${projectId}, 'ada@mail.test', 'PENDING', now(), now() - s * interval '1 second'
      from unnest(${dueSeconds}::int[]) s`,
  );
}

describe('GET /activity/queue', () => {
  it('lists what waits in the project alone, without an age while nothing is due', async () => {
    const { project, api } = await app.createProject();
    const other = await app.createProject();
    await addEmails(other.project.id, [60]);
    expect((await api('GET', '/activity/queue')).body).toEqual({ waiting: [] });
    await addEmails(project.id, [-60]);
    expect((await api('GET', '/activity/queue')).body.waiting).toEqual([
      { kind: 'email', count: 1, oldestSeconds: null, reason: null },
    ]);
  });

  it('says what held emails wait for, each reason with its number', async () => {
    const { project, api } = await app.createProject();
    await addEmails(project.id, [-60, -60, -60, -60]);
    const reasons = sql`(array['no source', 'traffic rule', 'traffic rule', 'warm-up'])[n]`;
    await query(
      app.em(),
      sql`
        update email e set wait_reason = ${reasons}
        from (select id, row_number() over () as n from email where project_id = ${project.id}) o where e.id = o.id`,
    );
    expect((await api('GET', '/activity/queue')).body.waiting[0].reason).toBe(
      '1 wait for a source of their pool (everpost source list), ' +
        '2 wait for a traffic rule (everpost shaping show <provider>), ' +
        '1 wait because a source warms up (everpost warm-up show)',
    );
  });

  it('says how many emails were deferred, beside what others are held for, with words that name no recipient', async () => {
    const { project, api } = await app.createProject();
    await addEmails(project.id, [-60, -60, 60]);
    await query(
      app.em(),
      sql`
        update email e set wait_reason = 'deferred', error = '451 4.7.5 mx.test, which is for <ada@mail.test>, breaks the TLS policy'
        from (select id, row_number() over () as n from email where project_id = ${project.id}) o where e.id = o.id and n < 3`,
    );
    const deferred = '2 deferred, such as: 451 4.7.5 mx.test, which is for …, breaks the TLS policy';
    expect((await api('GET', '/activity/queue')).body.waiting[0].reason).toBe(deferred);
    await query(
      app.em(),
      sql`update email set wait_reason = 'warm-up' where project_id = ${project.id} and wait_reason is null`,
    );
    expect((await api('GET', '/activity/queue')).body.waiting[0].reason).toBe(
      `1 wait because a source warms up (everpost warm-up show), ${deferred}`,
    );
  });

  it('lists campaigns that should have begun and executions that are late, and says why', async () => {
    const { project, api } = await app.createProject();
    const { body } = await api('POST', '/campaigns', { body: campaignContent() });
    const past = sql`now() - interval '90 seconds'`;
    await query(
      app.em(),
      sql`update campaign set status = 'SCHEDULED', scheduled_for = ${past} where id = ${body.data.id}`,
    );
    const automation = await api('POST', '/workflows', { body: { name: 'Late', eventName: 'late' } });
    await query(
      app.em(),
      sql`
        with graph as (
          insert into automation_graph (id, automation_id, graph, created_at)
          values (everpost_uuid_v7(), ${automation.body.id}, '{}', now())
          returning id
        )
        insert into automation_execution (id, project_id, automation_id, contact_id, graph_id, status, resume_at, is_first,
          started_at, created_at, updated_at)
        select everpost_uuid_v7(), ${project.id}, ${automation.body.id}, everpost_uuid_v7(), id, 'WAITING', ${past}, true,
          now(), now(), now() from graph`,
    );
    const reason = expect.stringContaining('everpost reconcile --now');
    const oldestSeconds = expect.any(Number);
    expect((await api('GET', '/activity/queue')).body.waiting).toEqual([
      { kind: 'scheduled campaign', count: 1, oldestSeconds, reason },
      { kind: 'execution', count: 1, oldestSeconds, reason },
    ]);
  });

  it('says how many items of each kind wait, for how long the oldest has been due, and why', async () => {
    const { project, api } = await app.createProject();
    await addEmails(project.id, [3_600, 60, -60]);
    const { body } = await api('POST', '/campaigns', { body: campaignContent() });
    const { id } = body.data;
    // Ten recipients: three were sent to, of whom one bounced later; two were refused at once, one has failed.
    await query(
      app.em(),
      sql`
        insert into email (id, project_id, contact_id, campaign_id, campaign_seq, to_address, status, created_at, sent_at, bounced_at)
        select everpost_uuid_v7(), ${project.id}, everpost_uuid_v7(), ${id}, n, 'reader' || n || '@mail.test',
          case when n < 3 then 'SENT' when n < 6 then 'BOUNCED' when n = 6 then 'FAILED' else 'PENDING' end, now(),
          case when n < 4 then now() end, case when n between 3 and 5 then now() end
        from generate_series(1, 10) n`,
    );
    await query(
      app.em(),
      sql`
        update campaign set status = 'SENDING', total_recipients = 10, sent_count = 3, bounced_count = 3, failed_count = 1,
          audience_frozen = true, audience_as_of = now() - interval '2 hours', paused_at = now()
        where id = ${id}`,
    );
    const { status, body: queue } = await api('GET', '/activity/queue');
    expect(status).toBe(200);
    const [first, second] = queue.waiting;
    expect(first).toEqual({
      kind: 'campaign recipient',
      count: 4,
      reason: 'a campaign is paused',
      oldestSeconds: expect.any(Number),
    });
    expect(second).toEqual({ kind: 'email', count: 3, oldestSeconds: expect.any(Number), reason: null });
    expect([first.oldestSeconds, second.oldestSeconds].map((seconds) => Math.floor(seconds / 3_600))).toEqual([2, 1]);
  });
});
