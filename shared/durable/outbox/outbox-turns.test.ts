import { beforeEach, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { useTestDatabase } from '../../../tests/support/database.ts';
import { sql } from '../../database/sql.ts';
import { query } from '../../../tests/support/rows.ts';
import { OUTBOX_KINDS, type OutboxKind } from '../../pure/outbox-kinds.ts';
import { addToOutbox } from './outbox.ts';
import {
  createClaim,
  deleteOutboxBatches,
  findDueKinds,
  recoverOutboxBatches,
  type OutboxBatch,
} from './outbox-claims.ts';

const BACKLOG = 20_000;
/** Fewer than the table has, so that a look at all of it is seen. */
const PAGES_MAX = 200;
const SIZE = { claimRows: 20, batchRows: 20 };

const { em } = useTestDatabase();
const ids = (count: number) => Array.from({ length: count }, () => uuidV7());
const subjectsOf = (batches: OutboxBatch[], projectId: string) =>
  batches.filter((batch) => batch.projectId === projectId).flatMap((batch) => batch.subjectIds);

beforeEach(async () => {
  await query(em(), sql`truncate outbox`);
});

async function addBacklog(kind: OutboxKind, projectId: string, options: { isClaimed: boolean }): Promise<void> {
  await query(
    em(),
    sql`
      insert into outbox (id, project_id, kind, subject_id, batch_id)
      select id, ${projectId}, ${kind}, id, case when ${options.isClaimed}::boolean then id end
      from (select everpost_uuid_v7() as id from generate_series(1, ${BACKLOG}::int)) n`,
  );
}

/** Pages of tables and indexes that a statement looked at. */
async function pagesRead(work: () => Promise<unknown>): Promise<number> {
  const read = async () => {
    await query(em(), sql`select pg_stat_force_next_flush()`);
    const [row] = await query(
      em(),
      sql`
        select (heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)::int as pages
        from pg_statio_user_tables where relname = 'outbox'`,
    );
    return row?.pages ?? 0;
  };
  const before = await read();
  await work();
  return (await read()) - before;
}

describe('projects with rows in the outbox', () => {
  it('share each claim, so a backlog of one does not delay the few rows of the others', async () => {
    const [big, small, smaller] = [uuidV7(), uuidV7(), uuidV7()];
    await addBacklog('executionCancel', big, { isClaimed: false });
    const [few, fewer] = [ids(3), ids(1)];
    await addToOutbox(em(), 'executionCancel', small, few);
    await addToOutbox(em(), 'executionCancel', smaller, fewer);
    const claimed = await createClaim('executionCancel', SIZE)(em());
    expect(subjectsOf(claimed, small).sort()).toEqual([...few].sort());
    expect(subjectsOf(claimed, smaller)).toEqual(fewer);
    expect(subjectsOf(claimed, big)).toHaveLength(6);
  });

  it('are all reached in turn when they outnumber the rows of a claim', async () => {
    const projects = ids(25);
    for (const project of projects) await addToOutbox(em(), 'job', project, ids(30));
    const claim = createClaim('job', { claimRows: 10, batchRows: 1 });
    const rounds: OutboxBatch[][] = [];
    for (let round = 0; round < 3; round++) rounds.push(await claim(em()));
    const reached = new Set(rounds.flat().map((batch) => batch.projectId));
    expect(reached.size).toBe(projects.length);
    // The next round begins with the first again.
    expect((await claim(em())).length).toBeGreaterThan(0);
  });

  it('share the batches that are taken over from a process that died', async () => {
    const [big, small] = [uuidV7(), uuidV7()];
    await addBacklog('executionEvent', big, { isClaimed: true });
    const batchId = uuidV7();
    await query(
      em(),
      sql`
        insert into outbox (id, project_id, kind, subject_id, batch_id)
        select everpost_uuid_v7(), ${small}, 'executionEvent', everpost_uuid_v7(), ${batchId} from generate_series(1, 15)`,
    );
    const recovered = await recoverOutboxBatches(em(), 'executionEvent', SIZE);
    expect(recovered.find((batch) => batch.projectId === small)?.subjectIds).toHaveLength(15);
    expect(subjectsOf(recovered, big)).toHaveLength(10);
  });
});

describe('a claim', () => {
  it.each(OUTBOX_KINDS)('of %s reads the rows that it takes, not those that wait', async (kind) => {
    // The planner's statistics are old, as they are when a backlog comes at once.
    await query(em(), sql`vacuum (analyze) outbox`);
    for (let planned = 0; planned < 10; planned++) {
      await createClaim(kind, SIZE)(em());
      await findDueKinds(em(), OUTBOX_KINDS);
      await deleteOutboxBatches(em(), ids(1));
    }
    await addBacklog(kind, uuidV7(), { isClaimed: false });
    await addToOutbox(em(), kind, uuidV7(), ids(2));
    const claim = createClaim(kind, SIZE);
    let claimed: OutboxBatch[] = [];
    expect(await pagesRead(async () => void (claimed = await claim(em())))).toBeLessThan(PAGES_MAX);
    const batchIds = claimed.map((batch) => batch.batchId);
    expect(batchIds.length).toBeGreaterThan(0);
    expect(await pagesRead(() => deleteOutboxBatches(em(), batchIds))).toBeLessThan(PAGES_MAX);
    expect(await pagesRead(() => findDueKinds(em(), OUTBOX_KINDS))).toBeLessThan(100);
  });
});
