import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { ActivityDeps } from '../../../activities/deps.ts';
import { createMaintenanceActivities } from '../../../activities/maintenance/maintenance-activities.ts';
import { testConfig } from '../../../tests/support/config.ts';
import { createJob, endJob } from '../jobs/jobs.ts';
import { CLEAN_UP_CHUNK, cleanUpChunk, cleanUpKinds } from './maintenance.ts';
import { retentionOf } from './retention.ts';
import { healthKey } from '../../sending/permit/keys.ts';
import { createPermitStore } from '../emails/permit-store.ts';
import { createProject } from '../projects/projects.ts';
import { sql, SqlFragment } from '../../database/sql.ts';
import { query } from '../../../tests/support/rows.ts';

let database: TestDatabase;
let projectId: string;
const em = () => database.orm.em.fork();
/** Cleans up one chunk of every kind. @returns how many rows of each were deleted */
async function cleanUp(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const retention = retentionOf(testConfig());
  for (const kind of cleanUpKinds(retention)) {
    counts[kind] = (await cleanUpChunk(em(), kind, retention)).removed;
  }
  return counts;
}
beforeAll(async () => {
  database = await createTestDatabase();
  projectId = (await createProject(em(), 'Test')).project.id;
});
afterAll(() => database.drop());
beforeEach(async () => {
  await query(em(), sql`truncate job, automation cascade`);
});

async function idsOf(table: 'job' | 'job_file' | 'automation_graph'): Promise<string[]> {
  const column = table === 'job_file' ? 'job_id' : 'id';
  const rows = await query(em(), new SqlFragment(`select ${column} as id from ${table} order by 1`));
  return rows.map((row) => row.id);
}

describe('the clean-up of jobs', () => {
  async function addJob(state: string, days: number): Promise<string> {
    const id = await createJob(em(), { projectId, kind: 'IMPORT', file: Buffer.from('email\n') });
    await query(
      em(),
      sql`
        update job set state = ${state}, updated_at = now() - ${days}::int * interval '1 day' where id = ${id}`,
    );
    return id;
  }

  it('removes those that ended a month ago, and none that has not ended', async () => {
    const kept = [await addJob('completed', 29), await addJob('active', 100), await addJob('waiting', 100)];
    await addJob('completed', 31);
    await addJob('failed', 31);
    expect(await cleanUp()).toMatchObject({ jobs: 2 });
    expect(await idsOf('job')).toEqual([...kept].sort());
    expect(await cleanUp()).toMatchObject({ jobs: 0 });
  });

  it('removes a file that is left although its job has ended', async () => {
    const kept = [await addJob('active', 5), await addJob('waiting', 5)];
    const ended = [await addJob('completed', 5), await addJob('failed', 5)];
    expect(await cleanUp()).toMatchObject({ jobs: 0, jobFiles: 2 });
    expect(await idsOf('job_file')).toEqual([...kept].sort());
    expect(await idsOf('job')).toEqual([...kept, ...ended].sort());
    await endJob(em(), kept[0] ?? '', null);
    expect(await idsOf('job_file')).toEqual([kept[1]]);
  });

  it('deletes at most a chunk at a time', async () => {
    await query(
      em(),
      sql`
        insert into job (id, project_id, kind, state, updated_at)
        select everpost_uuid_v7(), ${projectId}, 'DELETE', 'completed', now() - interval '40 days'
        from generate_series(1, ${CLEAN_UP_CHUNK + 3}::int)`,
    );
    expect(await cleanUp()).toMatchObject({ jobs: CLEAN_UP_CHUNK });
    expect(await cleanUp()).toMatchObject({ jobs: 3 });
  });
});

describe('the clean-up of idempotency keys', () => {
  it('deletes a chunk at a time, and the activity deletes all chunks', async () => {
    const addKeys = (prefix: string, count: number, days: number) =>
      query(
        em(),
        sql`
          insert into idempotency_claim (project_id, key, request, created_at)
          select ${projectId}, ${prefix}::text || n, 'POST /v1/send', now() - ${days}::int * interval '1 day'
          from generate_series(1, ${count}::int) n`,
      );
    await addKeys('old ', 2 * CLEAN_UP_CHUNK + 3, 2);
    await addKeys('new ', 3, 0);
    expect(await cleanUp()).toMatchObject({ idempotencyKeys: CLEAN_UP_CHUNK });
    const activities = createMaintenanceActivities({
      orm: database.orm,
      config: testConfig(),
      heartbeatMs: 1_000,
    } as ActivityDeps);
    const report = await new MockActivityEnvironment().run(() => activities.cleanUp());
    expect(report).toMatchObject({ idempotencyKeys: CLEAN_UP_CHUNK + 3, jobs: 0 });
    expect(await query(em(), sql`select key from idempotency_claim`)).toHaveLength(3);
  });
});

describe('the clean-up of graphs', () => {
  /** An automation with one graph for each of `ages` in days, the last of which is its present one. */
  async function addAutomation(ages: number[]): Promise<{ automationId: string; graphIds: string[] }> {
    const automationId = randomUUID();
    const graphIds = ages.map(() => randomUUID());
    await query(
      em(),
      sql`
        insert into automation (id, project_id, name, trigger_event, graph_id, created_at, updated_at)
        values (${automationId}, ${projectId}, 'A', 'e', ${graphIds.at(-1)}, now(), now())`,
    );
    await query(
      em(),
      sql`
        insert into automation_graph (id, automation_id, graph, created_at)
        select id, ${automationId}, '{}', now() - age * interval '1 day'
        from unnest(${graphIds}::uuid[], ${ages}::float8[]) as g (id, age)`,
    );
    return { automationId, graphIds };
  }

  async function addExecution(automationId: string, graphId: string | undefined, days: number, status: string) {
    await query(
      em(),
      sql`
        insert into automation_execution
          (id, project_id, automation_id, graph_id, contact_id, status, is_first, started_at, created_at, updated_at)
        select everpost_uuid_v7(), ${projectId}, ${automationId}, ${graphId}, ${randomUUID()}, ${status}, false, at, at, at
        from (select now() - ${days}::float8 * interval '1 day' as at) moment`,
    );
  }

  it('removes those that no execution and no automation refers to', async () => {
    const { automationId, graphIds } = await addAutomation([50, 40, 30, 20]);
    await addExecution(automationId, graphIds[0], 45, 'COMPLETED');
    await addExecution(automationId, graphIds[2], 30.01, 'WAITING');
    const other = await addAutomation([50]);
    expect(await cleanUp()).toMatchObject({ graphSnapshots: 1 });
    const [first, , third, present] = graphIds;
    expect(await idsOf('automation_graph')).toEqual([first, third, present, ...other.graphIds].sort());

    await query(em(), sql`delete from automation_execution where graph_id = ${first}`);
    expect(await cleanUp()).toMatchObject({ graphSnapshots: 1 });
    expect(await idsOf('automation_graph')).toEqual([third, present, ...other.graphIds].sort());
  });

  it('keeps a graph that was replaced a moment ago, because an open transaction may still use it', async () => {
    const { graphIds } = await addAutomation([50, 0.5]);
    expect(await cleanUp()).toMatchObject({ graphSnapshots: 0 });
    expect(await idsOf('automation_graph')).toEqual([...graphIds].sort());
  });
});

it('the clean-up deletes trace contexts after a day', async () => {
  await query(
    em(),
    sql`
      insert into trace_context (subject_id, trace_parent, created_at)
      select everpost_uuid_v7(), 'a trace', now() - hours * interval '1 hour' from unnest(array[23, 25, 100]) hours`,
  );
  expect(await cleanUp()).toMatchObject({ traceContexts: 2 });
  expect(await query(em(), sql`select from trace_context`)).toHaveLength(1);
});

it('the clean-up deletes states of providers that no worker has reported for a day', async () => {
  const report = {
    workerId: 'w',
    total: 10,
    accepted: 0,
    refused: 10,
    slowed: 0,
    hard: {},
    suspects: [],
    reason: '554 listed',
    probe: null,
    wantsProbe: false,
  };
  const providers = ['now.test', 'today.test', 'gone.test'];
  const keys = providers.map((provider) => healthKey('relay:25', provider));
  const store = createPermitStore(em, 0);
  const counts = { sent: [], answers: [] };
  await store.exchange(['relay:25'], new Map(keys.map((key) => [key, report])), counts, { sources: [] });
  const makeOlder = (provider: string, hours: number) =>
    query(
      em(),
      sql`
        update provider_health
        set state = jsonb_set(state, '{workers,w}', to_jsonb((state #>> '{workers,w}')::float8 - ${hours}::int * 3600000))
        where provider = ${provider}`,
    );
  await makeOlder('today.test', 23);
  await makeOlder('gone.test', 25);
  expect(await cleanUp()).toMatchObject({ providerStates: 1 });
  const { states } = await store.exchange(['relay:25'], new Map(), counts, { sources: [] });
  expect([...states.keys()].sort()).toEqual(keys.slice(0, 2).sort());
});

it('the clean-up deletes results of sources that no answer covers any more', async () => {
  await query(
    em(),
    sql`
      insert into source_day (source, provider, day, offered)
      select 'a', 'mail.test', (now() at time zone 'UTC')::date - days, 1 from unnest(array[0, 90, 95, 400]) days`,
  );
  expect(await cleanUp()).toMatchObject({ sourceDays: 2 });
  expect(await query(em(), sql`select from source_day`)).toHaveLength(2);
});

it('the clean-up forgets replaced secrets of webhook endpoints after their time', async () => {
  await query(
    em(),
    sql`
      insert into webhook_endpoint (id, project_id, url, events, secret, previous_secret, previous_secret_until)
      select everpost_uuid_v7(), ${projectId}, 'https://example.com/', '{*}', 'new', 'old', now() + hours * interval '1 hour'
      from unnest(array[-1, 1]) hours`,
  );
  expect(await cleanUp()).toMatchObject({ webhookSecrets: 1 });
  expect(await query(em(), sql`select from webhook_endpoint where previous_secret is not null`)).toHaveLength(1);
});
