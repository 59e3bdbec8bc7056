import { beforeEach, describe, expect, it } from '@jest/globals';
import { useTestDatabase } from '../../../tests/support/database.ts';
import { eventually } from '../../../tests/support/eventually.ts';
import { LIMITS } from '../../pure/limits.ts';
import { sql, type Em } from '../../database/sql.ts';
import { query } from '../../../tests/support/rows.ts';
import { createProject } from '../projects/projects.ts';
import { createTracker, type Tracker } from './tracker.ts';
import type { TrackedEvent } from './track.ts';

let projectId: string;
let track: Tracker;
/** The project of each turn that a group or a lone event took. */
let turns: string[] = [];
const { em } = useTestDatabase();
beforeEach(async () => {
  projectId = (await createProject(em(), 'Tracked')).project.id;
  turns = [];
  track = createTracker({
    em,
    slots: {
      run(project, work) {
        turns.push(project);
        return work();
      },
    },
  });
});

type EventInput = Partial<TrackedEvent> & { email: string };

/** Tracks events at the same moment. @returns the name of each that was stored, or the field that was refused */
async function trackTogether(...events: EventInput[]): Promise<string[]> {
  const results = await Promise.allSettled(
    events.map((event) => track({ projectId, name: 'seen', key: 'public', ...event })),
  );
  return results.map((result) =>
    result.status === 'fulfilled' ? result.value.name : (result.reason.errors?.[0].field ?? result.reason.message),
  );
}

async function storedOf(project = projectId): Promise<{ email: string; subscribed: boolean; data: object }[]> {
  return query(em(), sql`select email, subscribed, data from contact where project_id = ${project} order by email`);
}

async function eventsOf(email: string): Promise<string[]> {
  const rows = await query(
    em(),
    sql`
      select e.name from event e join contact c on c.id = e.contact_id
      where c.project_id = ${projectId} and c.email = ${email} order by e.id`,
  );
  return rows.map((row) => row.name);
}

/** Locks the row of a contact until the transaction of the returned unit of work ends. */
async function lockContact(email: string): Promise<Em> {
  const holder = em();
  await holder.begin();
  await query(holder, sql`select from contact where project_id = ${projectId} and email = ${email} for update`);
  return holder;
}

const large = (bytes: number) => ({ text: 'x'.repeat(bytes) });

describe('events that are tracked together', () => {
  it('share one turn, and each is answered with its own contact and event', async () => {
    const events = await Promise.all(
      ['c', 'a', 'b'].map((n) =>
        track({ projectId, email: `${n}@x.test`, name: `seen-${n}`, data: { n }, key: 'public' }),
      ),
    );
    expect(turns).toEqual([projectId]);
    expect(events.map(({ name, data }) => [name, { ...data }])).toEqual([
      ['seen-c', { n: 'c' }],
      ['seen-a', { n: 'a' }],
      ['seen-b', { n: 'b' }],
    ]);
    const rows = await query(
      em(),
      sql`
        select c.email, e.name, e.id from event e join contact c on c.id = e.contact_id
        where e.project_id = ${projectId} order by e.id`,
    );
    expect(rows).toEqual(events.map(({ name, id }) => ({ email: `${name.slice(-1)}@x.test`, name, id })));
  });

  it('change each contact by what its own request says', async () => {
    await trackTogether(
      { email: 'a@x.test', data: { kept: 1, gone: 2 } },
      { email: 'b@x.test', data: { kept: 1, gone: 2 }, subscribed: false },
      { email: 'c@x.test', data: { kept: 1 } },
    );
    await trackTogether(
      { email: 'a@x.test', data: { gone: null, more: 3 } },
      { email: 'b@x.test', data: { kept: null, only: { value: 1, persistent: false } }, subscribed: true },
      { email: 'c@x.test', subscribed: false },
      { email: 'd@x.test', data: { gone: null, ['__proto__']: 1 } },
    );
    expect(turns).toHaveLength(2);
    expect(await storedOf()).toEqual([
      { email: 'a@x.test', subscribed: true, data: { kept: 1, more: 3 } },
      { email: 'b@x.test', subscribed: true, data: { gone: 2 } },
      { email: 'c@x.test', subscribed: false, data: { kept: 1 } },
      { email: 'd@x.test', subscribed: true, data: JSON.parse('{"__proto__":1}') },
    ]);
    expect(new Set(await eventsOf('b@x.test'))).toEqual(new Set(['seen', 'contact.subscribed']));
  });

  it('of one contact take effect in their order', async () => {
    const states = Array.from({ length: 5 }, (_, n) => ({
      email: 'a@x.test',
      name: `e${n}`,
      data: { n, [`k${n}`]: n },
    }));
    expect(await trackTogether(...states, { email: 'b@x.test' })).toEqual(['e0', 'e1', 'e2', 'e3', 'e4', 'seen']);
    const [first] = await storedOf();
    expect(first?.data).toEqual({ n: 4, k0: 0, k1: 1, k2: 2, k3: 3, k4: 4 });
    expect(await eventsOf('a@x.test')).toEqual(['e0', 'e1', 'e2', 'e3', 'e4']);
  });

  it('of different projects share nothing', async () => {
    const other = (await createProject(em(), 'Other')).project.id;
    await trackTogether({ email: 'a@x.test' }, { email: 'a@x.test', projectId: other }, { email: 'b@x.test' });
    expect(turns.sort()).toEqual([projectId, other].sort());
    expect([await storedOf(), await storedOf(other)].map((rows) => rows.map((row) => row.email))).toEqual([
      ['a@x.test', 'b@x.test'],
      ['a@x.test'],
    ]);
  });
});

describe('a bad event among good ones', () => {
  it('is refused by itself when it is read', async () => {
    const data = large(LIMITS.eventDataBytes);
    expect(await trackTogether({ email: 'a@x.test' }, { email: 'b@x.test', data })).toEqual(['seen', 'data']);
    expect(turns).toHaveLength(1);
  });

  it('is refused by itself when its contact would hold too much', async () => {
    await trackTogether({ email: 'full@x.test', data: { first: large(50_000) } });
    expect(
      await trackTogether(
        { email: 'a@x.test' },
        { email: 'full@x.test', data: { second: large(20_000) } },
        { email: 'b@x.test' },
      ),
    ).toEqual(['seen', 'data', 'seen']);
    expect((await storedOf()).map((row) => row.email)).toEqual(['a@x.test', 'b@x.test', 'full@x.test']);
    expect(await eventsOf('full@x.test')).toEqual(['seen']);
    expect(await eventsOf('a@x.test')).toEqual(['seen']);
  });

  it('is refused by itself when its name is one too many', async () => {
    await query(
      em(),
      sql`
        insert into event_name
        select ${projectId}, 'n' || i from generate_series(1, ${LIMITS.eventNamesPerProject}::int) i`,
    );
    expect(await trackTogether({ email: 'a@x.test', name: 'n1' }, { email: 'b@x.test', name: 'new' })).toEqual([
      'n1',
      'event',
    ]);
    expect((await storedOf()).map((row) => row.email)).toEqual(['a@x.test']);
  });

  it('waits by itself for a contact that is locked', async () => {
    await trackTogether({ email: 'held@x.test' });
    const holder = await lockContact('held@x.test');
    let isHeldStored = false;
    const held = [0, 1].map((n) =>
      trackTogether({ email: 'held@x.test', data: { n } }).then(() => (isHeldStored = true)),
    );
    expect(await trackTogether({ email: 'a@x.test' }, { email: 'b@x.test' })).toEqual(['seen', 'seen']);
    expect(await trackTogether({ email: 'c@x.test' })).toEqual(['seen']);
    expect(isHeldStored).toBe(false);
    await holder.rollback();
    await Promise.all(held);
    expect(await eventsOf('held@x.test')).toEqual(['seen', 'seen', 'seen']);
  });
});

it('a group whose session is ended stores nothing, and each of its events fails', async () => {
  await trackTogether({ email: 'held@x.test' });
  await query(
    em(),
    sql`
      create function end_session() returns trigger language plpgsql as $$
      begin
        perform pg_terminate_backend(pg_backend_pid());
        return new;
      end $$`,
  );
  await query(
    em(),
    sql`create trigger ends before insert on event for each row when (new.name = 'last') execute function end_session()`,
  );
  const results = await trackTogether(
    { email: 'a@x.test' },
    { email: 'b@x.test', name: 'last' },
    { email: 'c@x.test' },
  );
  expect(results).toHaveLength(3);
  for (const result of results) expect(result).not.toBe('seen');
  // The pool needs a moment to see that its connection is gone.
  const stored = await eventually(() => storedOf());
  expect(stored.map((row) => row.email)).toEqual(['held@x.test']);
  await query(em(), sql`drop trigger ends on event`);
  expect(await trackTogether({ email: 'a@x.test' })).toEqual(['seen']);
});
