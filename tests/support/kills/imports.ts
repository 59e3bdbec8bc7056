import { expect } from '@jest/globals';
import pg from 'pg';
import { sql } from '../../../shared/database/sql.ts';
import type { TestProject } from '../api.ts';
import { uploadContacts } from '../csv-files.ts';
import { eventually } from '../eventually.ts';
import { PATIENCE_MS, type KillPoint, type KillWorld, type Load } from './load.ts';
import { query, queryOne } from '../rows.ts';

const ROWS = 20_000;
const EXISTING = 10_000;
/** The contacts that another transaction locks, so that the import is in its middle when the worker is killed. */
const LOCKED = [4_001, 8_001];

/**
 * Row `i` has address `i`, with two exceptions: every 50th row has no address, and every 10th repeats the address of
 * the row before. The first addresses already have a contact, and every second of these is not subscribed. Each row
 * subscribes its contact.
 */
function csvFile(): string {
  const lines = ['email,subscribed,row,plan'];
  for (let i = 0; i < ROWS; i++) {
    const email = i % 50 === 0 ? 'nobody' : `c${i % 10 === 5 ? i - 1 : i}@x.test`;
    lines.push(`${email},true,${i},pro`);
  }
  return lines.join('\n');
}

/** An import that waits for a lock when the worker is killed. */
export function importLoad(world: KillWorld): Load {
  let project: TestProject;
  let jobId: string;
  const holders: pg.Client[] = [];
  const poll = async () => (await project.api('GET', `/contacts/import/${jobId}`)).body;

  async function positionOf(): Promise<number> {
    const row = await queryOne(world.em(), sql`select position from job where id = ${jobId}`);
    return row?.position ?? 0;
  }

  async function lock(number: number): Promise<void> {
    const holder = new pg.Client({ connectionString: world.database.url });
    holders.push(holder);
    await holder.connect();
    await holder.query('begin');
    const { rowCount } = await holder.query('select from contact where project_id = $1 and email = $2 for update', [
      project.project.id,
      `c${number}@x.test`,
    ]);
    expect(rowCount).toBe(1);
  }

  /** A kill while the import waits for a lock, `before` rows or more after its beginning. */
  const pointAfter = (before: number): KillPoint => ({
    async hold() {
      const waiting = sql`
        select from pg_locks l join pg_stat_activity a on a.pid = l.pid
        where not l.granted and l.locktype = 'transactionid' and a.datname = current_database()
          and a.application_name like 'everpost-worker%' and a.query like '%contact%'`;
      await eventually(async () => {
        const position = await positionOf();
        return position > 0 && position >= before * 0.9 && (await query(world.em(), waiting)).length > 0;
      }, PATIENCE_MS);
    },
    async letGo() {
      const reached = await positionOf();
      expect(reached).toBeLessThan(ROWS);
      const progress = Math.floor((100 * reached) / ROWS);
      expect(await poll()).toMatchObject({ state: 'active', progress, result: null });
      await holders.shift()?.end();
    },
  });

  return {
    name: 'leaves exactly the right contacts, counts and events of an import',
    isHeld: true,
    async begin() {
      project = await world.createProject();
      await query(
        world.em(),
        sql`
          insert into contact (id, project_id, email, subscribed, data, created_at, updated_at)
          select everpost_uuid_v7(), ${project.project.id}, 'c' || i || '@x.test', i % 2 = 0, '{"keep":true,"plan":"free"}', now(), now()
          from generate_series(0, ${EXISTING - 1}::int) i`,
      );
      for (const number of LOCKED) await lock(number);
      jobId = await uploadContacts(project, csvFile());
    },
    points: { first: pointAfter(0), second: pointAfter(LOCKED[0]!) },
    async check() {
      const job = await eventually(async () => {
        const found = await poll();
        return found.state === 'completed' && found;
      }, PATIENCE_MS);
      await checkOutcome(world, project, job);
    },
  };
}

async function checkOutcome(world: KillWorld, { project }: TestProject, job: any): Promise<void> {
  const rows = Array.from({ length: ROWS }, (_, i) => i).filter((i) => i % 50 !== 0);
  const addresses = new Set(rows.map((i) => (i % 10 === 5 ? i - 1 : i)));
  const existing = [...addresses].filter((i) => i < EXISTING);
  const createdCount = addresses.size - existing.length;
  expect(job).toMatchObject({ progress: 100, failedReason: null });
  expect(job.result).toMatchObject({
    totalRows: ROWS,
    createdCount,
    updatedCount: rows.length - createdCount,
    failureCount: ROWS / 50,
  });
  expect(job.result.errors).toHaveLength(100);
  expect(job.result.errors[1]).toEqual({ row: 52, email: 'nobody', error: expect.any(String) });

  const contacts = await queryOne(
    world.em(),
    sql`
      select count(*) as total, count(*) filter (where subscribed) as subscribed,
        count(*) filter (where data ->> 'keep' = 'true') as kept,
        count(*) filter (where data ->> 'plan' = 'pro' and (data -> 'row')::int - substring(email from '\\d+')::int
          = case when substring(email from '\\d+')::int % 10 = 4 then 1 else 0 end) as imported
      from contact where project_id = ${project.id}`,
  );
  // The contacts without a row stay as they were, half of them not subscribed; so do those of skipped rows.
  const untouched = EXISTING - existing.length;
  const untouchedUnsubscribed = Array.from({ length: EXISTING }, (_, i) => i).filter(
    (i) => !addresses.has(i) && i % 2 === 1,
  );
  expect(contacts).toEqual({
    total: addresses.size + untouched,
    subscribed: addresses.size + untouched - untouchedUnsubscribed.length,
    kept: EXISTING,
    imported: addresses.size,
  });
  const events = await queryOne(
    world.em(),
    sql`
      select count(*) as total, count(distinct contact_id) as contacts from event
      where project_id = ${project.id} and name = 'contact.subscribed'`,
  );
  const flips = existing.filter((i) => i % 2 === 1).length;
  expect(events).toEqual({ total: flips, contacts: flips });
}
