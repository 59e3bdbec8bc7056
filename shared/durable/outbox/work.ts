import type { SqlFragment, Em } from '../../database/sql.ts';
import type { SearchAttributeIds } from '../../platform/search-attributes.ts';
import type { ClaimSize, OutboxBatch } from './outbox-claims.ts';

/** How a workflow is started. Its search attributes name the project, which also shares the task queue fairly. */
export interface WorkflowStart {
  type: string;
  taskQueue: string;
  input: object;
  /** For operators; at most 200 bytes, and no data of customers but names. */
  summary: string;
  /** Further search attributes. */
  attributes?: SearchAttributeIds;
  priority: number;
  /** Whether a closed workflow is always followed by another one of the same id, not only for the rows of a restart. */
  isRepeatable?: boolean;
}

/**
 * What rows of the outbox ask of a workflow: to start unless it runs, to receive a signal (also when it has to be
 * started for it), or, without both, to be cancelled. A workflow that is closed or unknown gets no signal and needs no
 * cancellation.
 */
export interface WorkflowCall {
  workflowId: string;
  /** The subjects of the rows. */
  subjectIds: readonly string[];
  start?: WorkflowStart;
  signal?: { name: string; args: unknown[] };
}

/** A kind of outbox row, and how its rows are handed over. A kind never waits for another one. */
export interface OutboxWork extends ClaimSize {
  /** The most claims whose hand-over is under way. */
  parallel: number;
  /**
   * The longest time that a claim waits for the hand-over before it. While Temporal is busy, rows gather into fewer and
   * larger batches. A hand-over that takes longer continues during the next claim.
   */
  handOverMs: number;
  /** The pause after a claim, by the number of its rows. Meanwhile rows gather into larger batches. */
  pauseMs: (rows: number) => number;
  /** Whether its calls may wait for those of other kinds, so that they leave Temporal to mail. */
  isPatient?: boolean;
  /** What a batch asks of Temporal. Subjects that need nothing any more are left out. */
  calls: (em: Em, batch: OutboxBatch) => WorkflowCall[] | Promise<WorkflowCall[]>;
  /** Selects `id`, `trace_parent` and `created_at` of traces that subjects continue beside their own. */
  tracesOf?: (subjectIds: string[]) => SqlFragment;
  /** Adds rows, at this interval, for what nobody has added rows for. */
  find?: { everyMs: number; add: (em: Em) => Promise<unknown> };
}
