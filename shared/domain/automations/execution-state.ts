import { LRUCache } from 'lru-cache';
import { uuidV7 } from '../../platform/uuid.ts';
import type { AutomationGraph } from '../../pure/automations/automation-graph.ts';
import { columnsOf, json, query, queryOne, queryPrepared, sql, type Em } from '../../database/sql.ts';
import { number, pick, tables, type RowOf } from '../../database/tables.ts';

const ROW = {
  executionId: tables.automationExecution.id,
  /** The number of steps reached; 0 before the first. The current step is under way if it has a record. */
  stepNumber: tables.automationExecution.stepNumber,
  /** How many executions led to this one, in a chain of automations that start one another. */
  depth: tables.automationExecution.depth,
  runId: tables.automationExecution.temporalRunId,
  ...pick(tables.automationExecution, 'projectId', 'automationId', 'graphId', 'contactId', 'status', 'currentStepId'),
  ...pick(tables.automationExecution, 'resumeAt', 'exitReason', 'context', 'startedAt', 'completedAt'),
};
const STATE = { ...ROW, automationName: tables.automation.name };
export type ExecutionState = RowOf<typeof STATE>;
const STATE_COLUMNS = sql`${columnsOf(ROW, 'x')}, a.name as "automationName"`;

/** The row of one step of an execution. */
const STEP_RECORD = {
  stepId: tables.stepExecution.stepId,
  ...pick(tables.stepExecution, 'stepNumber', 'status', 'output', 'error', 'startedAt', 'completedAt'),
};
export type StepRecord = RowOf<typeof STEP_RECORD>;

/** Reads the state of an execution. @returns undefined when the execution or its automation is gone */
export async function readState(em: Em, executionId: string): Promise<ExecutionState | undefined> {
  return queryOne(
    em,
    sql`
      select ${STATE_COLUMNS} from automation_execution x join automation a on a.id = x.automation_id
      where x.id = ${executionId}`,
    STATE,
  );
}

/**
 * As `readState`, with a lock: nobody else advances or cancels this execution before the transaction ends. An attempt
 * that was wrongly thought dead waits here, and then finds the state that another attempt has reached.
 */
export async function lockState(tx: Em, executionId: string): Promise<ExecutionState | undefined> {
  const [state] = await queryPrepared(
    tx,
    sql`
      select ${STATE_COLUMNS} from automation_execution x join automation a on a.id = x.automation_id
      where x.id = ${executionId} for no key update of x`,
    STATE,
  );
  return state;
}

/** Writes the records of steps and the new state of their execution, in one statement. */
export async function saveState(tx: Em, state: ExecutionState, records: StepRecord[]): Promise<void> {
  await queryPrepared(
    tx,
    sql`
      with records as (
        insert into step_execution as r
          (id, execution_id, step_number, step_id, status, output, error, started_at, completed_at)
        select n.id, ${state.executionId}, n.step_number, n.step_id, n.status, n.output, n.error, n.started_at,
          n.completed_at
        from unnest(
          ${records.map(() => uuidV7())}::uuid[], ${records.map((record) => record.stepNumber)}::int[],
          ${records.map((record) => record.stepId)}::uuid[], ${records.map((record) => record.status)}::text[],
          ${records.map((record) => (record.output === null ? null : json(record.output)))}::jsonb[],
          ${records.map((record) => record.error)}::text[], ${records.map((record) => record.startedAt)}::timestamptz[],
          ${records.map((record) => record.completedAt)}::timestamptz[]
        ) as n (id, step_number, step_id, status, output, error, started_at, completed_at)
        on conflict (execution_id, step_number) do update
          set status = excluded.status, output = excluded.output, error = excluded.error,
            completed_at = excluded.completed_at
      )
      update automation_execution set status = ${state.status}, step_number = ${state.stepNumber},
        current_step_id = ${state.currentStepId}::uuid, resume_at = ${state.resumeAt}, exit_reason = ${state.exitReason},
        context = ${json(state.context)}::jsonb, completed_at = ${state.completedAt}, temporal_run_id = ${state.runId},
        updated_at = now()
      where id = ${state.executionId}`,
  );
}

/** The record of a step; undefined when the step has not begun. */
export async function findRecord(em: Em, executionId: string, stepNumber: number): Promise<StepRecord | undefined> {
  return queryOne(
    em,
    sql`
      select ${columnsOf(STEP_RECORD)} from step_execution
      where execution_id = ${executionId} and step_number = ${stepNumber}`,
    STEP_RECORD,
  );
}

/** Deletes an execution whose automation was deleted while it started. */
export async function removeOrphan(em: Em, executionId: string): Promise<void> {
  await query(
    em,
    sql`
      delete from automation_execution x
      where x.id = ${executionId} and not exists (select from automation a where a.id = x.automation_id)`,
  );
}

/**
 * Deletes the wait of an execution if an event has ended it, or in any case with `evenWithoutEvent`.
 * @returns the event, with null as its id when no event has ended the wait; undefined when no wait was deleted
 */
export async function takeWait(
  tx: Em,
  executionId: string,
  options: { evenWithoutEvent: boolean },
): Promise<{ eventId: string | null; data: Record<string, unknown> | null } | undefined> {
  return queryOne(
    tx,
    sql`
      delete from event_wait
      where execution_id = ${executionId} and (event_id is not null or ${options.evenWithoutEvent}::boolean)
      returning event_id as "eventId", event_data as data`,
    { eventId: tables.eventWait.eventId, data: tables.eventWait.eventData },
  );
}

/** Stores a wait: after the commit, the next event of that name of the contact, or only of a person, ends it. */
export async function registerWait(
  tx: Em,
  state: ExecutionState,
  eventName: string,
  humanOnly: boolean,
): Promise<void> {
  await query(
    tx,
    sql`
      insert into event_wait (execution_id, project_id, contact_id, event_name, human_only)
      values (${state.executionId}, ${state.projectId}, ${state.contactId}, ${eventName}, ${humanOnly})
      on conflict (execution_id) do nothing`,
  );
}

/** The size of all graphs that a worker keeps in memory, as JSON. */
const CACHE_BYTES = 33_554_432;

/**
 * Creates a reader that keeps graphs in memory: a snapshot never changes, and thousands of executions run the same one.
 */
export function createGraphReader(): (em: Em, graphId: string) => Promise<AutomationGraph | undefined> {
  const cache = new LRUCache<string, AutomationGraph>({ maxSize: CACHE_BYTES });
  return async (em, graphId) => {
    const known = cache.get(graphId);
    if (known) return known;
    const row = await queryOne(
      em,
      sql`select graph, octet_length(graph::text) as bytes from automation_graph where id = ${graphId}`,
      { graph: tables.automationGraph.graph, bytes: number },
    );
    if (row) cache.set(graphId, row.graph, { size: row.bytes });
    return row?.graph;
  };
}
