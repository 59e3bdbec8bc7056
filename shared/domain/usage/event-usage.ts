import { collectReferences } from '../../pure/filters/filter-target.ts';
import type { FilterCondition } from '../../pure/filters/filter-condition.ts';
import { queryOne, sql, type Em } from '../../database/sql.ts';
import { number } from '../../database/tables.ts';
import { findConditionUsage, type ConditionUsage } from './condition-usage.ts';

export interface EventUsage extends ConditionUsage {
  totalCount: number;
  uniqueContacts: number;
}

/** Whether a condition refers to an event, by its name or as an email activity. */
export function refersToEvent(condition: FilterCondition, name: string): boolean {
  const { events, emailActivities } = collectReferences(condition);
  return events.includes(name) || emailActivities.some((activity) => `email.${activity}` === name);
}

/** The segments and campaigns that refer to an event name, and how often such events were recorded. */
export async function findEventUsage(em: Em, projectId: string, name: string): Promise<EventUsage> {
  const usage = await findConditionUsage(em, projectId, (condition) => refersToEvent(condition, name));
  const counts = await queryOne(
    em,
    sql`
      select count(*) as total, count(distinct contact_id) as contacts from event
      where project_id = ${projectId} and name = ${name}`,
    { total: number, contacts: number },
  );
  return {
    ...usage,
    totalCount: counts?.total ?? 0,
    uniqueContacts: counts?.contacts ?? 0,
  };
}
