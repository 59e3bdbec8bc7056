import { beforeEach, describe, expect, it } from '@jest/globals';
import { useTestDatabase } from '../../../tests/support/database.ts';
import { EXECUTION_STATUSES, hasEnded, type ExecutionStatus } from '../../pure/automations/automation-status.ts';
import { sql } from '../../database/sql.ts';
import { query, queryOne } from '../../../tests/support/rows.ts';
import { createProject } from '../projects/projects.ts';
import { createAutomation, listAutomations } from './automations.ts';
import { countEnded, countFailed, executionCount } from './execution-count.ts';
import { deleteExecutionChunk } from './execution-jobs.ts';
import { cancelAllExecutions, listExecutions } from './executions.ts';
import { failExecution } from './fail-execution.ts';

let projectId: string;
let automationId: string;
const { em } = useTestDatabase();

beforeEach(async () => {
  projectId = (await createProject(em(), 'P')).project.id;
  automationId = (await createAutomation(em(), projectId, { name: 'A', triggerEvent: 'e' })).id;
});

async function store(status: ExecutionStatus, count: number): Promise<string[]> {
  const rows = await query(
    em(),
    sql`
      insert into automation_execution (id, project_id, automation_id, graph_id, contact_id, is_first, status,
        started_at, created_at, updated_at, completed_at)
      select everpost_uuid_v7(), ${projectId}, ${automationId}, everpost_uuid_v7(), everpost_uuid_v7(), true, ${status},
        now(), now(), now(), ${hasEnded(status) ? new Date() : null}::timestamptz
      from generate_series(1, ${count}::int) returning id`,
  );
  return rows.map((row) => row.id);
}

async function end(ids: string[], status: ExecutionStatus): Promise<void> {
  await query(
    em(),
    sql`update automation_execution set status = ${status}, completed_at = now() where id = any(${ids}::uuid[])`,
  );
}

async function remove(ids: string[]): Promise<void> {
  await query(em(), sql`delete from automation_execution where id = any(${ids}::uuid[])`);
}

/** The totals of the lists of executions: all, and by status. */
async function totals(): Promise<Record<string, number>> {
  const list = { page: 1, pageSize: 1 };
  const result: Record<string, number> = { all: (await listExecutions(em(), projectId, automationId, list))[1] };
  for (const status of EXECUTION_STATUSES) {
    result[status] = (await listExecutions(em(), projectId, automationId, { ...list, status }))[1];
  }
  return result;
}

/** The same, counted. */
async function counted(): Promise<Record<string, number>> {
  const rows = await query(
    em(),
    sql`select status, count(*) from automation_execution where automation_id = ${automationId} group by status`,
  );
  const none = EXECUTION_STATUSES.map((status) => [status, 0]);
  return {
    ...Object.fromEntries(none),
    ...Object.fromEntries(rows.map(({ status, count }) => [status, count])),
    all: rows.reduce((sum: number, { count }) => sum + Number(count), 0),
  };
}

async function rowCount(): Promise<number> {
  const row = await queryOne(
    em(),
    sql`select count(*) from ended_execution_count where automation_id = ${automationId}`,
  );
  return row?.count ?? 0;
}

describe('the number of executions', () => {
  it('follows each way in which executions start, end and are deleted', async () => {
    const [first, second] = await store('RUNNING', 6);
    await store('WAITING', 3);
    await store('EXITED', 2);
    expect(await totals()).toMatchObject({ all: 11, RUNNING: 6, WAITING: 3, EXITED: 2, COMPLETED: 0 });
    await end([first!], 'COMPLETED');
    await failExecution(em(), second!, 'broken');
    await failExecution(em(), second!, 'again');
    expect(await totals()).toMatchObject({ all: 11, RUNNING: 4, WAITING: 3, EXITED: 2, COMPLETED: 1, FAILED: 1 });
    await cancelAllExecutions(em(), projectId, automationId);
    expect(await totals()).toMatchObject({ all: 11, RUNNING: 0, WAITING: 0, CANCELLED: 7 });
    expect(await totals()).toEqual(await counted());
    const [listed] = (await listAutomations(em(), projectId, { page: 1, pageSize: 5, sort: 'name', dir: 'asc' }))[0];
    expect(listed?.executionCount).toBe(11);
    const ended = Object.fromEntries((await countEnded(em(), automationId)).map((row) => [row.status, row.executions]));
    expect(ended).toEqual({ CANCELLED: 7, EXITED: 2, COMPLETED: 1, FAILED: 1 });
    await createAutomation(em(), projectId, { name: 'B', triggerEvent: 'e' });
    expect(await countFailed(em(), projectId)).toBe(1);
    expect(await countFailed(em(), (await createProject(em(), 'Other')).project.id)).toBe(0);
  });

  it('is exact when many executions end and are deleted at the same time, and takes few rows', async () => {
    const [running, past] = [await store('RUNNING', 3_000), await store('FAILED', 1_500)];
    const chunk = (ids: string[], index: number) => ids.slice(index * 250, (index + 1) * 250);
    const endEach = async (ids: string[]) => {
      for (const id of ids) await end([id], 'COMPLETED');
    };
    await Promise.all([
      ...Array.from({ length: 8 }, (_, index) => endEach(chunk(running, index))),
      ...Array.from({ length: 3 }, (_, index) => end(chunk(running, 8 + index), 'EXITED')),
      ...Array.from({ length: 3 }, (_, index) => remove(chunk(past, index))),
    ]);
    expect(await totals()).toEqual(await counted());
    // One statement in a hundred adds up the rows of those before it.
    expect(await rowCount()).toBeLessThan(1_900);
  });

  it('leaves no row when all executions are deleted', async () => {
    await store('COMPLETED', 700);
    await store('FAILED', 50);
    await store('RUNNING', 50);
    while ((await deleteExecutionChunk(em(), automationId)) > 0);
    expect(await totals()).toEqual(await counted());
    expect(await rowCount()).toBe(0);
  });

  it('is found without reading executions that have ended', async () => {
    await store('COMPLETED', 5_000);
    await store('WAITING', 2);
    await query(em(), sql`analyze automation_execution`);
    const plan = await query(em(), sql`explain select ${executionCount(sql`${automationId}::uuid`)}`);
    const text = plan.map((line) => Object.values(line)[0]).join('\n');
    expect(text).toContain('automation_execution_active');
    expect(text).not.toContain('automation_execution_by_');
  });
});
