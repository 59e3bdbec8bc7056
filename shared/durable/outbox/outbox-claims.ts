import { query, queryOne, queryPrepared, sql, inTransaction, type Em } from '../../database/sql.ts';
import { boolean, nullable, number, text, type RowOf } from '../../database/tables.ts';

export interface OutboxBatch {
  /** Stays the same when the batch is started again, so a second start is recognised. */
  batchId: string;
  kind: string;
  projectId: string;
  subjectIds: string[];
  attempts: number;
  /** Whether a closed workflow of the same id may be followed by another. */
  isRestart: boolean;
  /** Whether nobody has tried to start it before. */
  isNew: boolean;
}

export interface ClaimSize {
  /**
   * Rows of one claim. The projects that have rows share it, with at least one row each. If there are more projects
   * than rows, the next claim continues after the last project of this one.
   */
  claimRows: number;
  /** Rows of one project that go into one start. */
  batchRows: number;
}

const OUTBOX_ROW = { project_id: text, subject_id: text, batch_id: text, attempts: number, is_restart: boolean };
type OutboxRow = RowOf<typeof OUTBOX_ROW>;

const BEFORE_ALL_PROJECTS = '00000000-0000-0000-0000-000000000000';
/** Other processes take over the batches of a process that died between claiming and starting them after this long. */
const LEASE = '30 seconds';
const RECOVERY_LOCK = 7_310_526;
const RETRY_SECONDS_MAX = 60;

function groupIntoBatches(kind: string, rows: OutboxRow[], isNew: boolean): OutboxBatch[] {
  const batches = new Map<string, OutboxBatch>();
  for (const row of rows) {
    let batch = batches.get(row.batch_id);
    if (!batch) {
      batch = {
        batchId: row.batch_id,
        kind,
        projectId: row.project_id,
        subjectIds: [],
        attempts: row.attempts,
        isRestart: row.is_restart,
        isNew,
      };
      batches.set(row.batch_id, batch);
    }
    batch.subjectIds.push(row.subject_id);
  }
  return [...batches.values()];
}

type ClaimedRow = { [Column in keyof OutboxRow]: OutboxRow[Column] | null } & {
  turns: number;
  last_project: string | null;
};

/** Claims the next new rows; resolves with no batches when none are due. */
export type Claim = (em: Em) => Promise<OutboxBatch[]>;

/**
 * Creates a function that claims new rows of a kind. A claim commits which rows form a batch before anything is
 * started, so a batch that is started again after a crash has the same id and the same rows. An email is queued once,
 * so a batch of emails has the id of its first email. Other workflows may be woken many times, so their batches have
 * the id of a row.
 *
 * Projects take turns: each one that has rows gets an equal share of every claim, so the backlog of one project does
 * not delay the others. A claim reads the rows it takes, not those that wait.
 */
export function createClaim(kind: string, size: ClaimSize): Claim {
  let afterProject = BEFORE_ALL_PROJECTS;
  return async (em) => {
    for (;;) {
      const startedAfter = afterProject;
      const rows = await queryPrepared(
        em,
        sql`
          select * from everpost_claim_outbox(${kind}, ${size.claimRows}, ${size.batchRows}, ${startedAfter}, ${LEASE})`,
        {
          project_id: nullable(text),
          subject_id: nullable(text),
          batch_id: nullable(text),
          attempts: nullable(number),
          is_restart: nullable(boolean),
          turns: number,
          last_project: nullable(text),
        },
      );
      const [first] = rows;
      const isFull = first !== undefined && first.turns >= size.claimRows;
      afterProject = (isFull ? first.last_project : null) ?? BEFORE_ALL_PROJECTS;
      const claimed = rows.filter((row): row is ClaimedRow & OutboxRow => row.batch_id !== null);
      // Nothing is due after the last project, so the next round begins at the first one.
      if (claimed.length > 0 || startedAfter === BEFORE_ALL_PROJECTS) return groupIntoBatches(kind, claimed, true);
    }
  };
}

/**
 * Takes over whole batches of a kind whose start failed or whose process died. Projects take turns here as well. One
 * process at a time does this for a kind.
 */
export async function recoverOutboxBatches(em: Em, kind: string, size: ClaimSize): Promise<OutboxBatch[]> {
  return inTransaction(em, async (tx) => {
    const lock = await queryOne(
      tx,
      sql`select pg_try_advisory_xact_lock(${RECOVERY_LOCK}::int, hashtext(${kind})) as locked`,
      { locked: boolean },
    );
    if (!lock?.locked) return [];
    const rows = await query(
      tx,
      sql`select * from everpost_recover_outbox(${kind}, ${size.claimRows}, ${LEASE})`,
      OUTBOX_ROW,
    );
    return groupIntoBatches(kind, rows, false);
  });
}

/** Deletes the rows of batches that Temporal has accepted. */
export async function deleteOutboxBatches(em: Em, batchIds: string[]): Promise<void> {
  await queryPrepared(em, sql`select everpost_finish_outbox(${batchIds}::uuid[])`);
}

/** Makes the rows of a batch that Temporal has refused due again, with a growing pause, and deletes the others. */
export async function keepRefusedRows(
  em: Em,
  { batchId, attempts }: OutboxBatch,
  refusedIds: readonly string[],
  error: string,
): Promise<void> {
  const delaySeconds = Math.min(2 ** Math.min(attempts, 6), RETRY_SECONDS_MAX);
  await query(
    em,
    sql`
      with taken as (
        delete from outbox where batch_id = ${batchId} and subject_id <> all(${[...refusedIds]}::uuid[])
      )
      update outbox set available_at = now() + ${delaySeconds}::int * interval '1 second', last_error = ${error}
      where batch_id = ${batchId} and subject_id = any(${[...refusedIds]}::uuid[])`,
  );
}

const DUE_KIND = {
  kind: text,
  hasNew: boolean,
  /** Some rows were started without success, or claimed by a process that died. */
  hasLapsed: boolean,
};
export type DueKind = RowOf<typeof DUE_KIND>;

/** Those of the kinds that have due rows. */
export async function findDueKinds(em: Em, kinds: readonly string[]): Promise<DueKind[]> {
  return queryPrepared(
    em,
    sql`
      select kind, has_new as "hasNew", has_lapsed as "hasLapsed"
      from everpost_due_outbox(${[...kinds]}::text[])`,
    DUE_KIND,
  );
}
