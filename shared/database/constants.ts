import { SqlFragment } from './sql.ts';
import { tables, type Column } from './tables.ts';

/**
 * The values that the schema allows a column, for statements: `where status = ${emailStatus.PENDING}`. They are text,
 * not parameters, so that PostgreSQL can use a partial index with that condition.
 */
function constantsOf<Value extends string>(column: Column<Value>): Readonly<Record<Value, SqlFragment>> {
  const constants = (column.values ?? []).map((value) => [value, new SqlFragment(`'${value}'`)]);
  return Object.fromEntries(constants) as Record<Value, SqlFragment>;
}

export const audienceType = constantsOf(tables.campaign.audienceType);
export const campaignStatus = constantsOf(tables.campaign.status);
export const deliveryStatus = constantsOf(tables.webhookDelivery.status);
export const emailStatus = constantsOf(tables.email.status);
export const emailType = constantsOf(tables.template.type);
export const executionStatus = constantsOf(tables.automationExecution.status);
export const jobKind = constantsOf(tables.job.kind);
export const jobState = constantsOf(tables.job.state);
export const optInState = constantsOf(tables.optIn.state);
export const segmentType = constantsOf(tables.segment.type);
export const stepStatus = constantsOf(tables.stepExecution.status);
export const suppressionReason = constantsOf(tables.suppression.reason);
