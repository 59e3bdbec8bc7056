import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { createDatabaseGauges } from '../shared/domain/lifecycle/database-gauges.ts';
import { listSources } from '../shared/domain/emails/sources.ts';
import { startWarmUp } from '../shared/domain/emails/warm-ups.ts';
import { readFigures } from '../shared/domain/lifecycle/figures.ts';
import { createOrm, poolUsageOf } from '../shared/domain/schema/orm.ts';
import { sql } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import { createProcessMetrics } from '../shared/platform/metrics/process-metrics.ts';
import { holds, readAlertRules } from './support/alert-rules.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

const RULES = readAlertRules();
const idMadeAnHourAgo = () => uuidV7({ msecs: Date.now() - 3_600_000 });

let stack: TestStack;
let before: string;
beforeAll(async () => {
  stack = await startTestStack({ config: { DELIVERY_PAUSE_SECONDS: 600 } });
});
afterAll(() => stack.stop());
beforeEach(async () => {
  before = await stack.metrics.text();
});

/** The alerts that fire on the metrics now, compared with those at the beginning of the test. */
async function firing(text?: string): Promise<string[]> {
  const after = text ?? (await stack.metrics.text());
  return RULES.filter(({ expr }) => holds(expr, before, after)).map(({ alert }) => alert);
}

async function sendTo(addresses: string[]): Promise<void> {
  for (const to of addresses) {
    const body = { to, subject: 'Hello', body: '<p>Hi</p>', from: 'hello@example.com' };
    expect((await stack.api('POST', '/v1/send', { body })).status).toBe(200);
  }
}
const addresses = (count: number, host: string) => Array.from({ length: count }, () => `${uuidV7()}@${host}`);
const run = (statement: ReturnType<typeof sql>) => query(stack.em(), statement);

it('docs/operations.md says what to do about each of the sixteen alerts', () => {
  const manual = readFileSync(new URL('../docs/operations.md', import.meta.url), 'utf8');
  expect(RULES).toHaveLength(16);
  expect(RULES.filter(({ alert }) => !manual.includes(`| \`${alert}\` |`))).toEqual([]);
});

it('the dashboard and the alerts name only metrics that exist, and the dashboard shows every metric of Everpost', async () => {
  const dashboard = readFileSync(new URL('../deploy/grafana/everpost.json', import.meta.url), 'utf8');
  const { panels } = JSON.parse(dashboard) as { panels: { title: string; targets: { expr: string }[] }[] };
  const exprs = [...panels.flatMap(({ targets }) => targets), ...RULES].map(({ expr }) => expr);
  const named = new Set(exprs.flatMap((expr) => expr.match(/\b(?:everpost|nodejs|process)_\w+/g) ?? []));
  const text = await stack.metrics.text();
  const missing = [...named].filter((name) => !text.includes(`# TYPE ${name.replace(/_(?:bucket|sum|count)$/, '')} `));
  expect(missing).toEqual([]);
  const own = [...text.matchAll(/^# TYPE (everpost_\w+) /gm)].map(([, name = '']) => name);
  expect(own.filter((name) => !dashboard.includes(name))).toEqual([]);
});

it('labels hold no address, no domain of a recipient and no id', async () => {
  await sendTo(addresses(3, 'company.test'));
  await eventually(async () =>
    stack.sink.messages().some(({ to }) => to.some((address) => address.endsWith('company.test'))),
  );
  await stack.api('GET', `/contacts/${uuidV7()}`);
  await stack.api('GET', '/some/address@company.test');
  const text = await stack.metrics.text();
  expect(text).toContain('endpoint="/contacts/:id",status="404"');
  expect(text).toContain('method="any",endpoint="none",status="404"');
  expect(text).not.toMatch(/@|company\.test|[0-9a-f]{8}-[0-9a-f]{4}-/);
});

it('no alert is raised while emails are sent and requests are answered', async () => {
  await sendTo(addresses(30, 'quiet.test'));
  await eventually(async () => stack.sink.messageCount() >= 30);
  for (const path of ['/contacts', '/campaigns', '/nowhere']) await stack.api('GET', path);
  await eventually(async () => (await firing()).length === 0);
  expect(await firing()).toEqual([]);
});

describe('an alert is raised', () => {
  it('when PostgreSQL is away, and figures that only PostgreSQL knows are left out', async () => {
    const orm = await createOrm({ databaseUrl: 'postgres://nobody@127.0.0.1:1/none' });
    const metrics = createProcessMetrics({ withNode: false });
    const read = () => readFigures(orm.em.fork());
    metrics.beforeAnswer(createDatabaseGauges(metrics.registry, { read, poolUsage: () => poolUsageOf(orm) }));
    const text = await metrics.text();
    expect(await firing(text)).toEqual(['EverpostDatabaseAway']);
    expect(text).not.toMatch(/^everpost_emails_due /m);
    await orm.close();
  });

  it('when requests wait for a connection to PostgreSQL', async () => {
    const orm = await createOrm({ databaseUrl: stack.database.url, poolSize: 2 });
    const metrics = createProcessMetrics({ withNode: false });
    const read = () => readFigures(stack.em());
    metrics.beforeAnswer(createDatabaseGauges(metrics.registry, { read, poolUsage: () => poolUsageOf(orm) }));
    const lock = sql`select pg_advisory_xact_lock(1)`;
    const holder = stack.em();
    await holder.begin();
    await query(holder, lock);
    const busy = Array.from({ length: 3 }, () => query(orm.em.fork(), lock));
    await eventually(async () => poolUsageOf(orm).waiting > 0);
    expect(await firing(await metrics.text())).toEqual(['EverpostConnectionsExhausted']);
    await holder.rollback();
    await Promise.all(busy);
    await orm.close();
  });

  it('when an outbox row has waited for long, also after failed attempts', async () => {
    await run(sql`
      insert into outbox (id, project_id, kind, subject_id, attempts, available_at)
      values (${idMadeAnHourAgo()}, ${uuidV7()}, 'job', ${uuidV7()}, 3, now() + interval '1 hour')`);
    expect(await firing()).toEqual(['EverpostOutboxStuck']);
    await run(sql`delete from outbox where kind = 'job'`);
  });

  it('when emails that are due are not sent', async () => {
    await run(sql`
      insert into email (id, project_id, status, created_at, delivery_due_at)
      values (${uuidV7()}, ${stack.project.id}, 'PENDING', now(), now() - interval '10 minutes')`);
    expect(await firing()).toEqual(['EverpostEmailsLate']);
    await run(sql`delete from email where delivery_due_at < now() - interval '9 minutes'`);
  });

  it('when requests end with a 5xx', async () => {
    await run(sql`alter table template rename to template_away`);
    expect((await stack.api('GET', '/templates')).status).toBe(500);
    await run(sql`alter table template_away rename to template`);
    expect(await firing()).toEqual(['EverpostApiErrors']);
  });

  it('when an open transaction holds the events of webhook endpoints', async () => {
    const store = (age: string) =>
      sql`insert into webhook_feed (project_id, source, id, at)
        values (${stack.project.id}, 0, ${uuidV7()}, now() - ${age}::interval)`;
    const writer = stack.em();
    await writer.begin();
    await query(writer, store('0'));
    await run(store('10 minutes'));
    expect(await firing()).toEqual(['EverpostWebhookEventsHeld']);
    await writer.rollback();
    await run(sql`delete from webhook_feed`);
  });

  it('when executions that are due do not continue', async () => {
    await run(sql`
      insert into automation_execution (id, project_id, automation_id, graph_id, contact_id, status, is_first, resume_at,
        started_at, created_at, updated_at)
      select i, i, i, i, i, 'WAITING', false, now() - interval '5 minutes', now(), now(), now() from (select ${uuidV7()}::uuid as i) n`);
    expect(await firing()).toEqual(['EverpostExecutionsLate']);
    await run(sql`delete from automation_execution`);
  });

  it('when a job makes no progress', async () => {
    await run(sql`
      insert into job (id, project_id, kind, state, position, total, updated_at)
      values (${uuidV7()}, ${stack.project.id}, 'IMPORT', 'active', 30, 100, now() - interval '20 minutes')`);
    expect(await firing()).toEqual(['EverpostJobStuck']);
    expect(await stack.metrics.text()).toContain('everpost_job_progress_ratio{kind="IMPORT"} 0.3');
    await run(sql`delete from job`);
  });

  it('when sending to a provider is paused, and the metrics name only well-known providers', async () => {
    await run(sql`
      insert into provider_health (relay, provider, state)
      select 'elsewhere:25', p, '{"window": [], "workers": {}, "pause": {"untilMs": 9e12, "sinceMs": 0, "step": 0, "reason": "x"}}'
      from unnest(array['gmail.com', 'company.test']) p`);
    expect(await firing()).toEqual(['EverpostProviderPaused']);
    const text = await stack.metrics.text();
    expect(text).toContain('everpost_providers_paused{relay="elsewhere:25",provider="gmail.com"} 1');
    expect(text).toContain('everpost_providers_paused{relay="elsewhere:25",provider="other"} 1');
    expect(text).not.toContain('company.test');
    await run(sql`delete from provider_health where relay = 'elsewhere:25'`);
  });

  it('when a provider defers or refuses mail of a source for reputation', async () => {
    await run(sql`
      insert into source_day (source, provider, day, offered, deferred_reputation, refused_reputation)
      select 'mx1', p, (now() at time zone 'UTC')::date, n, d, d
      from (values ('gmail.com', 100, 8), ('company.test', 100, 1), ('small.test', 10, 5)) t (p, n, d)`);
    expect(await firing()).toEqual(['EverpostReputation']);
    const text = await stack.metrics.text();
    expect(text).toContain('everpost_reputation_ratio{source="mx1",provider="gmail.com"} 0.16');
    expect(text).toContain('everpost_reputation_ratio{source="mx1",provider="other"} 0.02');
    await run(sql`delete from source_day where source = 'mx1'`);
  });

  it('when a day of the warm-up of a source was bad, and when the warm-up is finished', async () => {
    const count = 20;
    const [source] = await eventually(
      async () => (await listSources(stack.em())).length > 0 && listSources(stack.em()),
    );
    const name = source?.name ?? '';
    await stack.stopWorkers();
    await startWarmUp(stack.em(), name, { plan: 'short', step: 0, perDay: { '*': [count] } });
    await stack.startWorkers();
    /** Sends the mail of a day, makes yesterday of it, and sends one more, with which the day is decided. */
    async function passDay(deferred: number): Promise<void> {
      await sendTo(addresses(count, 'warming.test'));
      const day = sql`source = ${name} and provider = 'warming.test' and day = (now() at time zone 'UTC')::date`;
      await eventually(
        async () => (await run(sql`select from source_day where ${day} and offered >= ${count}`)).length > 0,
      );
      before = await stack.metrics.text();
      await run(
        sql`update source_day set day = day - 1, deferred_speed = ${deferred}, offered = ${count} where ${day}`,
      );
      await run(sql`update warm_up set day = day - 1 where ${day}`);
      await sendTo(addresses(1, 'warming.test'));
      await eventually(async () => (await firing()).length > 0);
    }
    await passDay(count / 2);
    expect(await firing()).toEqual(['EverpostWarmUpSetBack']);
    await run(sql`delete from source_day where source = ${name} and day < (now() at time zone 'UTC')::date`);
    await passDay(0);
    expect(await firing()).toEqual(['EverpostWarmUpFinished']);
  });

  it('when the event loop of a process is blocked', async () => {
    const metrics = createProcessMetrics({ withNode: true });
    await new Promise((resolve) => setTimeout(resolve, 50));
    const until = performance.now() + 900;
    while (performance.now() < until);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await firing(await metrics.text())).toEqual(['EverpostEventLoopBlocked']);
  });

  it('when emails bounce', async () => {
    const dead = addresses(6, 'dead.test');
    for (const address of dead) stack.sink.replyTo(address, { code: 550, text: '5.1.1 No such user', stage: 'rcpt' });
    await sendTo([...addresses(20, 'live.test'), ...dead]);
    const allRefusals = /^everpost_refusals_total\{kind="hard",rule="[\w-]+",provider="other"\} 6$/m;
    await eventually(async () => allRefusals.test(await stack.metrics.text()));
    // Results are counted in groups: the refusals may be counted before the emails that they are compared with.
    await eventually(async () => (await firing()).length > 0);
    expect(await firing()).toEqual(['EverpostEmailsRefused']);
    const text = await stack.metrics.text();
    for (const word of ['dead.test', 'live.test', stack.project.id]) expect(text).not.toContain(word);
  });

  it('when many emails are deferred', async () => {
    const late = addresses(12, 'late.test');
    for (const address of late) stack.sink.replyTo(address, { code: 451, text: '4.2.1 Mailbox busy', stage: 'rcpt' });
    await sendTo([...addresses(12, 'live.test'), ...late]);
    await eventually(async () => (await firing()).includes('EverpostEmailsDeferred'));
    expect(await firing()).toEqual(['EverpostEmailsDeferred']);
  });

  it('when a relay cannot be connected to', async () => {
    await stack.sink.setUnavailable(true);
    await sendTo(addresses(1, 'live.test'));
    await eventually(async () => (await firing()).includes('EverpostRelayDown'));
    await stack.sink.setUnavailable(false);
  });
});
