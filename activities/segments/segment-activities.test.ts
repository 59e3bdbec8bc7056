import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { FilterCondition } from '../../shared/pure/filters/filter-condition.ts';
import { createOpenDeliveries } from '../emails/open-deliveries.ts';
import { createSendingSlots } from '../../shared/sending/sending-slots.ts';
import { listSegmentsToRefresh, noteRefresh } from '../../shared/domain/segments/refresh-segments.ts';
import { json, sql } from '../../shared/database/sql.ts';
import { query, queryOne } from '../../tests/support/rows.ts';
import { createLogger } from '../../shared/platform/logger.ts';
import { startTestApi, type TestApi, type TestProject } from '../../tests/support/api.ts';
import type { ActivityDeps } from '../deps.ts';
import { createSegmentActivities } from './segment-activities.ts';

/** Far more than the conditions of well-behaved segments take here, far less than the heavy one takes. */
const STATEMENT_MS = 500;
const HEAVY_CONTACTS = 25_000;

const where = (filters: object[]): FilterCondition => ({ logic: 'OR', groups: [{ filters: filters as never }] });
const cheap = where([{ field: 'email', operator: 'contains', value: '@' }]);
const DEPTH = 20;

/** Nested objects in which a dotted path can be read in many ways. */
function nested(depth: number): object {
  return depth === 0 ? { end: 1 } : { k: nested(depth - 1), 'k.k': { k: {} }, 'k.k.k': {} };
}

/** The longest paths, as many as a condition may have. None of them leads to a value. */
const heavy = where(
  Array.from({ length: 4 }, (_, n) => ({
    field: `data.${'k.'.repeat(DEPTH - 1)}no${n}`,
    operator: 'equals',
    value: 1,
  })),
);

let app: TestApi;
let greedy: TestProject;
let modest: TestProject;
let activities: ReturnType<typeof createSegmentActivities>;
beforeAll(async () => {
  app = await startTestApi();
  const deps = {
    orm: app.orm,
    logger: createLogger({ level: 'silent', name: 'worker' }),
    heartbeatMs: 1_000,
    openDeliveries: createOpenDeliveries(),
    slots: createSendingSlots(),
  };
  activities = createSegmentActivities(deps as unknown as ActivityDeps, { statementMs: STATEMENT_MS });
});
afterAll(() => app.stop());
beforeEach(async () => {
  await query(app.em(), sql`truncate segment, contact cascade`);
  [greedy, modest] = [await app.createProject(), await app.createProject()];
});

async function addContacts(owner: TestProject, count: number): Promise<void> {
  await query(
    app.em(),
    sql`
      insert into contact (id, project_id, email, subscribed, data, created_at, updated_at)
      select everpost_uuid_v7(), ${owner.project.id}, 'c' || n || '@x.test', true,
        ${json(nested(DEPTH))}::jsonb, now(), now()
      from generate_series(1, ${count}::int) n`,
  );
}

async function createSegment(owner: TestProject, condition: FilterCondition, fields: object = {}): Promise<string> {
  const reply = await owner.api('POST', '/segments', { body: { name: 'S', condition, ...fields } });
  expect(reply.status).toBe(201);
  return reply.body.id;
}

const read = async (owner: TestProject, id: string) => (await owner.api('GET', `/segments/${id}`)).body;

/** A pass of the schedule, call by call as its workflow does. */
async function refreshAll(): Promise<void> {
  const startedAt = new Date().toISOString();
  const environment = new MockActivityEnvironment();
  const refreshNext = () => activities.refreshSegments({ startedAt });
  while (
    (await environment.run<[], Awaited<ReturnType<typeof refreshNext>>, typeof refreshNext>(refreshNext)).lastId !==
    null
  );
}

describe('a segment that takes too long', () => {
  beforeEach(async () => {
    await addContacts(greedy, HEAVY_CONTACTS);
    await addContacts(modest, 3);
  });

  it.each([
    ['counted', false],
    ['computed', true],
  ])('to be %s is marked with the reason, and the others are refreshed', async (_how, trackMembership) => {
    const slow = await createSegment(greedy, heavy, { trackMembership });
    const same = await createSegment(greedy, cheap);
    const other = await createSegment(modest, cheap, { trackMembership });
    await refreshAll();
    expect(await read(greedy, slow)).toMatchObject({
      memberCount: 0,
      computeError: { message: expect.stringContaining('longer than 0.5 seconds'), at: expect.stringMatching(/Z$/) },
    });
    expect(await read(greedy, same)).toMatchObject({ memberCount: HEAVY_CONTACTS, computeError: null });
    expect(await read(modest, other)).toMatchObject({ memberCount: 3, computeError: null });
  });

  it('is skipped for longer each time, until its condition is changed', async () => {
    const id = await createSegment(greedy, heavy);
    const pauseOf = () =>
      queryOne(
        app.em(),
        sql`
          select compute_failures as failures, extract(epoch from retry_at - compute_error_at)::int as seconds
          from segment where id = ${id}`,
      );
    await refreshAll();
    expect(await pauseOf()).toEqual({ failures: 1, seconds: 300 });
    await refreshAll();
    expect(await pauseOf()).toEqual({ failures: 1, seconds: 300 });
    await query(app.em(), sql`update segment set retry_at = now() - interval '1 second' where id = ${id}`);
    await refreshAll();
    expect(await pauseOf()).toEqual({ failures: 2, seconds: 600 });

    const patched = await greedy.api('PATCH', `/segments/${id}`, { body: { condition: cheap } });
    expect(patched.body.computeError).toBeNull();
    await refreshAll();
    expect(await read(greedy, id)).toMatchObject({ memberCount: HEAVY_CONTACTS, computeError: null });
  });

  it('is marked as well when its members are tracked', async () => {
    const id = await createSegment(greedy, heavy, { trackMembership: true });
    await refreshAll();
    expect((await read(greedy, id)).computeError).not.toBeNull();
  });
});

describe('a segment with a condition that is not valid any more', () => {
  it('is marked with the fault', async () => {
    const id = await createSegment(modest, cheap);
    const nonsense = JSON.stringify(where([{ field: 'nonsense', operator: 'equals', value: 1 }]));
    await query(app.em(), sql`update segment set condition = ${nonsense}::jsonb where id = ${id}`);
    await refreshAll();
    expect((await read(modest, id)).computeError.message).toContain('is not a field that equals can read');
  });
});

describe('projects', () => {
  it('take turns, however many segments one has', async () => {
    const many: string[] = [];
    for (let n = 0; n < 20; n++) many.push(await createSegment(greedy, cheap));
    const few = [await createSegment(modest, cheap), await createSegment(modest, cheap)];
    const since = new Date();
    const order: string[] = [];
    for (;;) {
      const turns = await listSegmentsToRefresh(app.em(), since, 50);
      if (turns.length === 0) break;
      for (const { id } of turns) {
        await noteRefresh(app.em(), id, since);
        order.push(id);
      }
    }
    expect([...order].sort()).toEqual([...many, ...few].sort());
    expect(few.map((id) => order.indexOf(id)).every((place) => place < 2 * few.length)).toBe(true);
  });
});
