import { expect } from '@jest/globals';
import pg from 'pg';
import { sql } from '../../../shared/database/sql.ts';
import type { TestProject } from '../api.ts';
import { eventually } from '../eventually.ts';
import { optInsOf, subscribe } from '../opt-ins.ts';
import { query, queryOne } from '../rows.ts';
import { expectArrived, PATIENCE_MS, type KillPoint, type KillWorld, type Load } from './load.ts';

const DOMAIN = 'opt-ins.test';
const ADDRESSES = Array.from({ length: 4 }, (_, n) => `asked${n}@${DOMAIN}`);

/** Any number that nobody else locks. */
const LOCK = 4_711;

/**
 * Opt-ins whose confirmation is being queued: the transaction is at its last statement, after all others. At the second
 * kill, each was asked for again.
 */
export function optInLoad(world: KillWorld): Load {
  let project: TestProject;
  let holder: pg.Client;

  const mailsOf = async (email: string) =>
    (await optInsOf(world.em(), project.project.id, email))[0]?.mails as number | undefined;
  const untilMails = (count: number) =>
    eventually(async () => {
      const mails = await Promise.all(ADDRESSES.map(mailsOf));
      return mails.every((each) => (each ?? 0) === count);
    }, PATIENCE_MS);
  const countMails = async () =>
    (await query(world.em(), sql`select 1 from email where project_id = ${project.project.id}`)).length;

  async function untilBlocked(): Promise<void> {
    await eventually(async () => {
      const row = await queryOne(
        world.em(),
        sql`
          select count(*) as held from pg_locks
          where locktype = 'advisory' and objid = ${LOCK} and not granted
            and database = (select oid from pg_database where datname = current_database())`,
      );
      return row?.held === ADDRESSES.length;
    }, PATIENCE_MS);
  }

  /** A kill while each address is queued a confirmation, after so many. */
  const pointAfter = (mails: number): KillPoint => ({
    async hold() {
      if (mails > 0) await untilMails(mails);
      holder = new pg.Client({ connectionString: world.database.url });
      await holder.connect();
      await holder.query(`begin; select pg_advisory_xact_lock(${LOCK})`);
      for (const email of ADDRESSES) expect((await subscribe(project, { email })).status).toBe(202);
      await untilBlocked();
    },
    async letGo() {
      await holder.end();
      await eventually(async () => (await countMails()) === mails * ADDRESSES.length);
    },
  });

  return {
    name: 'sends each confirmation exactly once',
    isHeld: true,
    async begin() {
      project = await world.createProject();
      await query(
        world.em(),
        sql`
          create function everpost_hold_opt_in() returns trigger language plpgsql as $$
          begin perform pg_advisory_xact_lock_shared(4711); return new; end $$`,
      );
      await query(
        world.em(),
        sql`
          create trigger hold_opt_in before update on opt_in for each row
          when (old.is_mail_wanted and not new.is_mail_wanted) execute function everpost_hold_opt_in()`,
      );
    },
    points: { first: pointAfter(0), second: pointAfter(1) },
    async check() {
      await untilMails(2);
      await expectArrived(world, ADDRESSES, { times: 2 });
      expect(await countMails()).toBe(2 * ADDRESSES.length);
    },
  };
}
