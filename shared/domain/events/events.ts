import { v7 as uuidV7 } from 'uuid';
import { tooLarge } from '../../pure/app-error.ts';
import { LIMITS } from '../../pure/limits.ts';
import { findCheckViolation } from '../database/database-errors.ts';
import type { Em } from '../database/em.ts';
import { json, query, sql } from '../database/sql.ts';
import { recordedEvents } from './recorded-events.ts';

/**
 * Rethrows the error of a statement that records events, as VALIDATION_ERROR when the project has too many event names.
 * @param field the field of the request that has the name
 */
export function throwTooManyEventNames(error: unknown, field: string): never {
  if (!findCheckViolation(error, 'event_names_limit')) throw error;
  throw tooLarge(field, `A project may have at most ${LIMITS.eventNamesPerProject} event names`);
}

export interface NewEvent {
  projectId: string;
  name: string;
  contactId: string | null;
  emailId?: string | null;
  data?: Record<string, unknown>;
}

/** Records events, in one statement. @returns their ids, in the order given */
export async function recordEvents(em: Em, events: NewEvent[]): Promise<string[]> {
  if (events.length === 0) return [];
  const rows = events.map((event) => ({ ...event, id: uuidV7() }));
  await query(
    em,
    sql`
      with ${recordedEvents(sql`
        select *, now() from unnest(
          ${rows.map((row) => row.id)}::uuid[], ${rows.map((row) => row.projectId)}::uuid[],
          ${rows.map((row) => row.contactId)}::uuid[], ${rows.map((row) => row.emailId ?? null)}::uuid[],
          ${rows.map((row) => row.name)}::text[], ${rows.map((row) => json(row.data ?? {}))}::jsonb[])`)}
      select`,
  );
  return rows.map((row) => row.id);
}

/** The execution that changes something; `depth` is how many executions led to it. */
export interface ExecutionCause {
  automationId: string;
  executionId: string;
  depth: number;
}

/** What changed a subscription, if known: a link in an email, or a step of an execution. */
export type SubscriptionCause = { emailId: string } | ExecutionCause;

/** The event that reports a changed subscription. */
export function subscriptionEvent(
  projectId: string,
  contactId: string,
  subscribed: boolean,
  cause?: SubscriptionCause,
): NewEvent {
  const event = { projectId, contactId, name: subscribed ? 'contact.subscribed' : 'contact.unsubscribed' };
  if (!cause) return event;
  if ('emailId' in cause) return { ...event, emailId: cause.emailId };
  return { ...event, data: { workflowId: cause.automationId, executionId: cause.executionId } };
}
