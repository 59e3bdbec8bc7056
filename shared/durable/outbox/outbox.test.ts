import { beforeEach, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { useTestDatabase } from '../../../tests/support/database.ts';
import { eventually } from '../../../tests/support/eventually.ts';
import { sql } from '../../database/sql.ts';
import { query } from '../../../tests/support/rows.ts';
import { OUTBOX_KINDS, type OutboxKind } from '../../pure/outbox-kinds.ts';
import { addToOutbox, outboxInsert } from './outbox.ts';
import {
  createClaim,
  deleteOutboxBatches,
  findDueKinds,
  keepRefusedRows,
  recoverOutboxBatches,
  type OutboxBatch,
} from './outbox-claims.ts';

const { em } = useTestDatabase();
const ids = (count: number) => Array.from({ length: count }, () => uuidV7());
const SIZE = { claimRows: 200, batchRows: 100 };
const claim = (kind: OutboxKind, size = SIZE) => createClaim(kind, size)(em());
const recover = (kind: OutboxKind) => recoverOutboxBatches(em(), kind, SIZE);
const subjectsOf = (batches: OutboxBatch[]) => batches.flatMap((batch) => batch.subjectIds).sort();

beforeEach(async () => {
  await query(em(), sql`truncate outbox`);
});

async function endLeases(): Promise<void> {
  await query(em(), sql`update outbox set available_at = now() where batch_id is not null`);
}

describe('the outbox', () => {
  it('keeps what a transaction adds only when it commits', async () => {
    const unit = em();
    await unit.begin();
    await addToOutbox(unit, 'email', uuidV7(), ids(3));
    expect(await claim('email')).toEqual([]);
    await unit.rollback();
    expect(await claim('email')).toEqual([]);
  });

  it('joins emails of one project into batches and does not claim other kinds', async () => {
    const [first, second] = [uuidV7(), uuidV7()];
    const [firstEmails, secondEmails, campaigns] = [ids(90), ids(3), ids(2)];
    await addToOutbox(em(), 'email', first, firstEmails);
    await addToOutbox(em(), 'email', second, secondEmails);
    await addToOutbox(em(), 'campaign', first, campaigns);
    const batches = await claim('email', { claimRows: 200, batchRows: 50 });
    const sizes = batches.map(({ projectId, subjectIds }) => `${projectId === first ? 1 : 2} ${subjectIds.length}`);
    expect(sizes.sort()).toEqual(['1 40', '1 50', '2 3']);
    expect(subjectsOf(batches)).toEqual([...firstEmails, ...secondEmails].sort());
    for (const batch of batches) expect(batch.subjectIds).toContain(batch.batchId);
    expect(await findDueKinds(em(), OUTBOX_KINDS)).toEqual([{ kind: 'campaign', hasNew: true, hasLapsed: false }]);
    expect(subjectsOf(await claim('campaign', { claimRows: 10, batchRows: 1 }))).toEqual([...campaigns].sort());
    expect(await findDueKinds(em(), OUTBOX_KINDS)).toEqual([]);
  });

  it('claims the batched rows of a second together when the second is over', async () => {
    const [project, first, second] = [uuidV7(), ids(2), ids(3)];
    await em().transactional(async (tx) => {
      await query(tx, outboxInsert('email', project, first, { isBatched: true }));
      await query(tx, outboxInsert('email', project, second, { isBatched: true }));
    });
    const due = await query(
      em(),
      sql`select distinct available_at, available_at = date_trunc('second', available_at) as "isFullSecond" from outbox`,
    );
    expect(due).toEqual([expect.objectContaining({ isFullSecond: true })]);
    const [batch, ...others] = await eventually(async () => {
      const claimed = await claim('email');
      return claimed.length > 0 && claimed;
    });
    expect(others).toEqual([]);
    expect([...(batch?.subjectIds ?? [])].sort()).toEqual([...first, ...second].sort());
  });

  it('gives every row to exactly one of several claimants', async () => {
    const emailIds = ids(1_000);
    await addToOutbox(em(), 'email', uuidV7(), emailIds);
    const claimed: OutboxBatch[] = [];
    const claimant = async () => {
      for (;;) {
        const batches = await claim('email');
        if (batches.length === 0) return;
        claimed.push(...batches);
      }
    };
    await Promise.all([claimant(), claimant(), claimant(), claimant()]);
    // A claimant stops when another one has locked all rows that are left; those rows are not lost.
    claimed.push(...(await claim('email')));
    expect(subjectsOf(claimed)).toEqual([...emailIds].sort());
  });

  it('lets others take over a batch, unchanged, when its lease has ended, and not before', async () => {
    await addToOutbox(em(), 'email', uuidV7(), ids(5));
    const [claimed] = await claim('email');
    await addToOutbox(em(), 'email', claimed?.projectId ?? '', ids(5));
    expect(await recover('email')).toEqual([]);
    await endLeases();
    const [recovered, ...others] = await recover('email');
    expect(others).toEqual([]);
    expect(recovered).toMatchObject({ batchId: claimed?.batchId, kind: 'email', attempts: 1 });
    expect([...(recovered?.subjectIds ?? [])].sort()).toEqual([...(claimed?.subjectIds ?? [])].sort());
    expect(await recover('email')).toEqual([]);
  });

  it('gives each lapsed batch to one of several processes that recover at the same time', async () => {
    await addToOutbox(em(), 'campaign', uuidV7(), ids(20));
    const claimed = await claim('campaign', { claimRows: 20, batchRows: 1 });
    await endLeases();
    expect(await findDueKinds(em(), OUTBOX_KINDS)).toEqual([{ kind: 'campaign', hasNew: false, hasLapsed: true }]);
    const rounds = await Promise.all(Array.from({ length: 5 }, () => recover('campaign')));
    expect(subjectsOf(rounds.flat())).toEqual(subjectsOf(claimed));
  });

  it('deletes batches that were started, and puts back the rows of a batch that were refused', async () => {
    const [campaigns, executions] = [ids(1), ids(3)];
    await addToOutbox(em(), 'campaign', uuidV7(), campaigns);
    await addToOutbox(em(), 'execution', uuidV7(), executions);
    const [done] = await claim('campaign');
    const [failed] = await claim('execution');
    if (!done || !failed) throw new Error('two batches were expected');
    await deleteOutboxBatches(em(), [done.batchId]);
    await keepRefusedRows(em(), { ...failed, attempts: 3 }, executions.slice(1), 'out of reach');
    const rows = await query(
      em(),
      sql`
        select subject_id as subject, last_error as error, round(extract(epoch from available_at - now()))::int as seconds
        from outbox order by subject_id`,
    );
    expect(rows).toEqual(executions.slice(1).map((subject) => ({ subject, error: 'out of reach', seconds: 8 })));
  });
});
