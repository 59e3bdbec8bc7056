import { beforeAll, describe, expect, it } from '@jest/globals';
import { useTestDatabase } from '../../../tests/support/database.ts';
import { sql, type Em } from '../../database/sql.ts';
import { query, queryOne } from '../../../tests/support/rows.ts';
import { createProject } from '../projects/projects.ts';
import { countActivity } from './activity-stats.ts';

const EVENTS = 20_000;
const PERIOD = { from: new Date(Date.now() - 86_400_000), until: new Date(Date.now() + 86_400_000) };

let projectId: string;
const { em } = useTestDatabase();
beforeAll(async () => {
  projectId = (await createProject(em(), 'Busy')).project.id;
  // One open in a hundred is the first of its email.
  await query(
    em(),
    sql`
      insert into event (id, project_id, name, data, created_at)
      select everpost_uuid_v7(), ${projectId}, 'email.open', jsonb_build_object('isFirstOpen', n % 100 = 0), now()
      from generate_series(1, ${EVENTS}::int) n`,
  );
  await query(em(), sql`vacuum (analyze) event`);
});

/** Whether the work reads the index, according to the counters of its transaction. */
async function readsIndex(index: string, work: (tx: Em) => Promise<unknown>): Promise<boolean> {
  const tx = em();
  await tx.begin();
  const scans = async () =>
    (await queryOne(tx, sql`select pg_stat_get_xact_numscans(${index}::regclass)::int as scans`))?.scans ?? 0;
  try {
    const before = await scans();
    await work(tx);
    return (await scans()) > before;
  } finally {
    await tx.rollback();
  }
}

describe('the statistics of many events', () => {
  it('count first opens by their partial index, each email once', async () => {
    const count = (tx: Em) => countActivity(tx, projectId, PERIOD.from, PERIOD.until);
    expect(await readsIndex('event_first_of_mail', count)).toBe(true);
    expect((await count(em())).reduce((sum, day) => sum + day.opened, 0)).toBe(EVENTS / 100);
  });
});
