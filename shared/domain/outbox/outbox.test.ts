import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts';
import { eventually } from '../../testing/eventually.ts';
import { query, sql } from '../sql.ts';
import {
  addToOutbox,
  claimOutboxBatches,
  deleteOutboxBatches,
  isFullClaim,
  outboxInsert,
  postponeOutboxBatch,
  recoverOutboxBatches,
  type OutboxBatch,
} from './outbox.ts';

let database: TestDatabase;
const em = () => database.orm.em.fork();
const ids = (count: number) => Array.from({ length: count }, () => uuidV7());
const subjectsOf = (batches: OutboxBatch[]) => batches.flatMap((batch) => batch.subjectIds).sort();

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  await query(em(), sql`truncate outbox`);
});
afterAll(() => database.drop());

async function endLeases(): Promise<void> {
  await query(em(), sql`update outbox set available_at = now() where batch_id is not null`);
}

describe('the outbox', () => {
  it('keeps what a transaction adds only when it commits', async () => {
    const unit = em();
    await unit.begin();
    await addToOutbox(unit, 'email', uuidV7(), ids(3));
    expect(await claimOutboxBatches(em(), 'urgent')).toEqual([]);
    await unit.rollback();
    expect(await claimOutboxBatches(em(), 'urgent')).toEqual([]);
  });

  it('joins mails of one project, at most 100, and leaves campaigns apart', async () => {
    const [first, second] = [uuidV7(), uuidV7()];
    const [firstMails, secondMails, campaigns] = [ids(120), ids(3), ids(2)];
    await addToOutbox(em(), 'email', first, firstMails);
    await addToOutbox(em(), 'email', second, secondMails);
    await addToOutbox(em(), 'campaign', first, campaigns);
    const batches = await claimOutboxBatches(em(), 'urgent');
    const sizes = batches.map(
      (batch) => `${batch.kind} ${batch.projectId === first ? 1 : 2} ${batch.subjectIds.length}`,
    );
    expect(sizes.sort()).toEqual(['campaign 1 1', 'campaign 1 1', 'email 1 100', 'email 1 20', 'email 2 3']);
    expect(subjectsOf(batches)).toEqual([...firstMails, ...secondMails, ...campaigns].sort());
    expect(new Set(batches.map((batch) => batch.batchId)).size).toBe(5);
    for (const batch of batches.filter((it) => it.kind === 'email')) expect(batch.subjectIds).toContain(batch.batchId);
  });

  it('leaves executions to a lane of their own, so that no mail waits behind thousands of them', async () => {
    const [executions, mails] = [ids(50), ids(2)];
    await addToOutbox(em(), 'execution', uuidV7(), executions);
    await addToOutbox(em(), 'email', uuidV7(), mails);
    expect(subjectsOf(await claimOutboxBatches(em(), 'urgent'))).toEqual([...mails].sort());
    const claims = [];
    for (let claim = 0; claim < 3; claim++) claims.push(await claimOutboxBatches(em(), 'execution'));
    expect(claims.map((claim) => subjectsOf(claim).length)).toEqual([20, 20, 10]);
    expect(claims.map((claim) => isFullClaim('execution', claim))).toEqual([true, true, false]);
    expect(subjectsOf(claims.flat())).toEqual([...executions].sort());
  });

  it('hands out what is gathered together, when the second is over', async () => {
    const [project, first, second] = [uuidV7(), ids(2), ids(3)];
    await em().transactional(async (tx) => {
      await query(tx, outboxInsert('email', project, first, { isGathered: true }));
      await query(tx, outboxInsert('email', project, second, { isGathered: true }));
    });
    const due = await query<{ isFullSecond: boolean }>(
      em(),
      sql`select distinct available_at, available_at = date_trunc('second', available_at) as "isFullSecond" from outbox`,
    );
    expect(due).toEqual([expect.objectContaining({ isFullSecond: true })]);
    const [batch, ...others] = await eventually(async () => {
      const claimed = await claimOutboxBatches(em(), 'urgent');
      return claimed.length > 0 && claimed;
    });
    expect(others).toEqual([]);
    expect([...(batch?.subjectIds ?? [])].sort()).toEqual([...first, ...second].sort());
  });

  it('gives every row to exactly one of several claimants', async () => {
    const mails = ids(1_000);
    await addToOutbox(em(), 'email', uuidV7(), mails);
    const claimed: OutboxBatch[] = [];
    const claimant = async () => {
      for (;;) {
        const batches = await claimOutboxBatches(em(), 'urgent');
        if (batches.length === 0) return;
        claimed.push(...batches);
      }
    };
    await Promise.all([claimant(), claimant(), claimant(), claimant()]);
    // A claimant may find all that is left locked by another one and go home; what that one has is not lost.
    claimed.push(...(await claimOutboxBatches(em(), 'urgent')));
    expect(subjectsOf(claimed)).toEqual([...mails].sort());
  });

  it('hands a batch on unchanged when its claimant dies, and not before', async () => {
    await addToOutbox(em(), 'email', uuidV7(), ids(5));
    const [claimed] = await claimOutboxBatches(em(), 'urgent');
    await addToOutbox(em(), 'email', claimed?.projectId ?? '', ids(5));
    expect(await recoverOutboxBatches(em())).toEqual([]);
    await endLeases();
    const [recovered, ...others] = await recoverOutboxBatches(em());
    expect(others).toEqual([]);
    expect(recovered).toMatchObject({ batchId: claimed?.batchId, kind: 'email', attempts: 1 });
    expect([...(recovered?.subjectIds ?? [])].sort()).toEqual([...(claimed?.subjectIds ?? [])].sort());
    expect(await recoverOutboxBatches(em())).toEqual([]);
  });

  it('lets one process recover at a time', async () => {
    await addToOutbox(em(), 'campaign', uuidV7(), ids(20));
    const claimed = await claimOutboxBatches(em(), 'urgent');
    await endLeases();
    const rounds = await Promise.all(Array.from({ length: 5 }, () => recoverOutboxBatches(em())));
    expect(subjectsOf(rounds.flat())).toEqual(subjectsOf(claimed));
  });

  it('forgets what Temporal has, and postpones what it did not take', async () => {
    await addToOutbox(em(), 'campaign', uuidV7(), ids(2));
    const [done, failed] = await claimOutboxBatches(em(), 'urgent');
    if (!done || !failed) throw new Error('two batches were expected');
    await deleteOutboxBatches(em(), [done.batchId]);
    await postponeOutboxBatch(em(), { ...failed, attempts: 3 }, 'out of reach');
    const rows = await query<{ subject: string; error: string; seconds: number }>(
      em(),
      sql`
        select subject_id as subject, last_error as error, round(extract(epoch from available_at - now()))::int as seconds
        from outbox`,
    );
    expect(rows).toEqual([{ subject: failed.subjectIds[0], error: 'out of reach', seconds: 8 }]);
  });
});
