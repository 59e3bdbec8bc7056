import { beforeEach, describe, expect, it } from '@jest/globals';
import type { OutboxBatch } from '../../durable/outbox/outbox-claims.ts';
import { addReaders } from '../../../tests/support/campaigns.ts';
import { untilBlocked, useTestDatabase } from '../../../tests/support/database.ts';
import { runJob } from '../contact-jobs/run-job.ts';
import { sql } from '../../database/sql.ts';
import { query, queryOne } from '../../../tests/support/rows.ts';
import { updateProject } from '../lifecycle/update-project.ts';
import { OUTBOX_WORK } from '../work/outbox-work.ts';
import { createProject } from '../projects/projects.ts';
import { createAutomation, deleteAutomation } from './automations.ts';
import { EXECUTION_CHUNK } from './execution-jobs.ts';
import { cancelAllExecutions, cancelExecution, startExecution } from './executions.ts';

const TOTAL = 2 * EXECUTION_CHUNK + 500;
const LATER = new Date(Date.now() + 60_000);

let projectId: string;
let automationId: string;
const { em } = useTestDatabase();

beforeEach(async () => {
  projectId = (await createProject(em(), 'P')).project.id;
  automationId = (await createAutomation(em(), projectId, { name: 'A', triggerEvent: 'e' })).id;
});

async function storeExecutions(count: number, startedAt = new Date()): Promise<void> {
  await query(
    em(),
    sql`
      with stored as (
        insert into automation_execution
          (id, project_id, automation_id, graph_id, contact_id, is_first, status, started_at, created_at, updated_at)
        select everpost_uuid_v7(), ${projectId}, ${automationId}, everpost_uuid_v7(), everpost_uuid_v7(), true, 'WAITING',
          ${startedAt}, now(), now()
        from generate_series(1, ${count}::int)
        returning id
      )
      insert into step_execution (id, execution_id, step_number, step_id, status, started_at)
      select everpost_uuid_v7(), id, 0, everpost_uuid_v7(), 'WAITING', now() from stored`,
  );
}

async function counts() {
  return queryOne(
    em(),
    sql`
      select count(*) filter (where status = 'WAITING') as active,
        count(*) filter (where status = 'CANCELLED') as cancelled,
        (select count(*) from outbox where project_id = ${projectId} and kind = 'executionCancel') as signalled
      from automation_execution where automation_id = ${automationId}`,
  );
}

const stepCount = () => queryOne(em(), sql`select count(*) from step_execution`);

async function openJob(): Promise<string> {
  const job = await queryOne(
    em(),
    sql`select id from job where project_id = ${projectId} and state in ('waiting', 'active')`,
  );
  return job!.id;
}

/** Runs the job, or stops it after some chunks like a worker that dies. @returns how many chunks there were */
async function run(jobId: string, chunksMax = Infinity): Promise<number> {
  let chunks = 0;
  const stop = new AbortController();
  const onChunk = () => {
    chunks += 1;
    if (chunks === chunksMax) stop.abort();
  };
  await runJob(jobId, { em, signal: stop.signal, onChunk }).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  return chunks;
}

describe('cancelling all executions of an automation', () => {
  it('cancels a thousand at once and the others by a job, which continues where it stopped', async () => {
    await storeExecutions(TOTAL);
    expect(await cancelAllExecutions(em(), projectId, automationId)).toBe(TOTAL);
    expect(await counts()).toEqual({
      active: TOTAL - EXECUTION_CHUNK,
      cancelled: EXECUTION_CHUNK,
      signalled: EXECUTION_CHUNK,
    });
    await storeExecutions(1, LATER);
    const jobId = await openJob();
    expect(await run(jobId, 1)).toBe(1);
    expect(await counts()).toMatchObject({ active: 501, cancelled: 2 * EXECUTION_CHUNK });
    expect(await run(jobId)).toBe(1);
    expect(await counts()).toEqual({ active: 1, cancelled: TOTAL, signalled: TOTAL });
    expect(await queryOne(em(), sql`select state, position from job where id = ${jobId}`)).toEqual({
      state: 'completed',
      position: TOTAL - EXECUTION_CHUNK,
    });
  });

  it('leaves its slot to other jobs after its turn, with one chunk done', async () => {
    await storeExecutions(3 * EXECUTION_CHUNK);
    await cancelAllExecutions(em(), projectId, automationId);
    const jobId = await openJob();
    const turn = AbortSignal.abort(new Error('the turn is over'));
    const aTurn = () => runJob(jobId, { em, signal: new AbortController().signal, turn, onChunk: () => undefined });
    await expect(aTurn()).rejects.toThrow('the turn is over');
    expect(await counts()).toMatchObject({ active: EXECUTION_CHUNK, cancelled: 2 * EXECUTION_CHUNK });
    expect(await run(jobId)).toBe(2);
    expect(await counts()).toMatchObject({ active: 0, cancelled: 3 * EXECUTION_CHUNK });
  });

  it('needs no job for a few', async () => {
    await storeExecutions(3);
    expect(await cancelAllExecutions(em(), projectId, automationId)).toBe(3);
    expect(await counts()).toEqual({ active: 0, cancelled: 3, signalled: 3 });
    expect(await queryOne(em(), sql`select count(*) from job where project_id = ${projectId}`)).toEqual({ count: 0 });
  });
});

it('cancelling all executions counts none that somebody else has just cancelled', async () => {
  await storeExecutions(3);
  const first = em();
  await first.begin();
  expect(await cancelAllExecutions(first, projectId, automationId)).toBe(3);
  const second = cancelAllExecutions(em(), projectId, automationId);
  await untilBlocked(em);
  await first.commit();
  expect(await second).toBe(0);
});

describe('cancelling one execution', () => {
  it('is refused with the status that the execution has got meanwhile', async () => {
    await storeExecutions(1);
    const execution = await queryOne(
      em(),
      sql`select id from automation_execution where automation_id = ${automationId}`,
    );
    const ending = em();
    await ending.begin();
    await query(ending, sql`update automation_execution set status = 'COMPLETED' where id = ${execution!.id}`);
    const cancelled = cancelExecution(em(), projectId, automationId, execution!.id);
    await untilBlocked(em);
    await ending.commit();
    await expect(cancelled).rejects.toMatchObject({
      message: 'The execution is already COMPLETED',
      details: { status: 'COMPLETED' },
    });
  });
});

describe('disabling a project', () => {
  it('cancels its executions in chunks', async () => {
    await storeExecutions(TOTAL);
    await updateProject(em(), projectId, { disabled: true });
    expect(await counts()).toMatchObject({ cancelled: EXECUTION_CHUNK });
    await run(await openJob());
    expect(await counts()).toEqual({ active: 0, cancelled: TOTAL, signalled: TOTAL });
  });
});

describe('deleting an automation', () => {
  it('deletes a thousand of its executions at once and the others by a job', async () => {
    await storeExecutions(TOTAL);
    await query(em(), sql`update automation_execution set status = 'COMPLETED' where automation_id = ${automationId}`);
    const others = await queryOne(
      em(),
      sql`
        select count(*) from step_execution s where not exists (
          select from automation_execution x where x.id = s.execution_id and x.automation_id = ${automationId})`,
    );
    await deleteAutomation(em(), projectId, automationId);
    expect(await stepCount()).toEqual({ count: TOTAL - EXECUTION_CHUNK + Number(others!.count) });
    await run(await openJob());
    expect(await stepCount()).toEqual(others);
  });

  it('is refused for an execution that was just being started by hand', async () => {
    await addReaders(em(), projectId, 1);
    const contact = await queryOne(em(), sql`select id from contact where project_id = ${projectId}`);
    await query(
      em(),
      sql`update automation set enabled = true, graph_id = coalesce(graph_id, everpost_uuid_v7()) where id = ${automationId}`,
    );
    const starting = em();
    await starting.begin();
    await startExecution(starting, projectId, automationId, contact!.id, {});
    const deleted = deleteAutomation(em(), projectId, automationId);
    await untilBlocked(em);
    await starting.commit();
    await expect(deleted).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  it('leaves no execution that an event started meanwhile', async () => {
    await deleteAutomation(em(), projectId, automationId);
    await storeExecutions(2);
    const started = await query(em(), sql`select id from automation_execution where automation_id = ${automationId}`);
    const subjectIds = started.map(({ id }) => id);
    const calls = await OUTBOX_WORK.execution.calls(em(), {
      kind: 'execution',
      subjectIds,
      isRestart: false,
    } as OutboxBatch);
    expect(calls).toEqual([]);
    const left = sql`
      select (select count(*) from automation_execution where automation_id = ${automationId}) as executions,
        (select count(*) from step_execution where execution_id = any(${subjectIds}::uuid[])) as steps`;
    expect(await queryOne(em(), left)).toEqual({ executions: 0, steps: 0 });
  });
});
