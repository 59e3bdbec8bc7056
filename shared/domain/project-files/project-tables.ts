import { inSql, sql, SqlFragment } from '../../database/sql.ts';
import { tables } from '../../database/tables.ts';

export type TableName = keyof typeof tables;

/** How the rows of a table get into the file of a project. */
interface TableRows {
  /** The condition that a row `r` belongs to the project. */
  belongs: (projectId: string) => SqlFragment;
  /** Rows that are read at a time; fewer where a row may have megabytes. */
  rowsPerPart: number;
  /**
   * Whether an import may store the rows before the project exists, because no foreign key leads to it. Nothing uses
   * them until then.
   */
  isEarly: boolean;
  /** Whether an import may find rows that are there already, because the installation shares them. */
  isShared?: true;
}

/** Why rows of a table are in no file. */
interface LeftOut {
  leftOut: string;
}

const own = (projectId: string): SqlFragment => sql`r.project_id = ${projectId}::uuid`;

/** Rows that belong to rows of another table. */
function of(column: string, parent: string, parentColumn = 'id') {
  const [child, table] = [
    new SqlFragment(`r.${column}`),
    new SqlFragment(`(select p.${parentColumn} from ${parent} p`),
  ];
  return (projectId: string): SqlFragment => sql`${child} in ${table} where p.project_id = ${projectId}::uuid)`;
}

const ROWS_PER_PART = 500;
const FEW = 20;

function early(belongs: TableRows['belongs'], rowsPerPart = ROWS_PER_PART): TableRows {
  return { belongs, rowsPerPart, isEarly: true };
}

function late(belongs: TableRows['belongs'], rowsPerPart = ROWS_PER_PART): TableRows {
  return { belongs, rowsPerPart, isEarly: false };
}

const attachmentsOf = (projectId: string): SqlFragment => sql`
  r.set_id in (select c.attachment_set_id from email_content c join email e on e.id = c.email_id
    where e.project_id = ${projectId}::uuid)`;

const wordingsOf = (projectId: string): SqlFragment => sql`
  r.id in (select wording_id from consent_record where project_id = ${projectId}::uuid
    union select wording_id from opt_in where project_id = ${projectId}::uuid)`;

/**
 * Every table, in the order of the file. Rows come after those to which a foreign key leads. A new table has to be named
 * here, or the types do not fit. Its columns follow from the schema.
 */
export const PROJECT_TABLES: Readonly<Record<TableName, TableRows | LeftOut>> = {
  contact: early(own),
  consentRecord: early(own),
  wording: { ...early(wordingsOf), isShared: true },
  formerAddress: early(own),
  erasedContact: early(own),
  automationExecution: early(own),
  stepExecution: early(of('execution_id', 'automation_execution')),
  formerFailure: early(of('execution_id', 'automation_execution')),
  eventWait: early(own),
  automationRefusal: early(own),
  email: early(own),
  emailContent: early(of('email_id', 'email'), FEW),
  attachment: early(attachmentsOf, 1),
  eventName: { ...early(own), isShared: true },
  event: early(own),
  providerDay: early(own),
  auditEntry: early(own),
  idempotencyClaim: early((projectId) => sql`${own(projectId)} and r.status_code is not null`),

  project: late((projectId) => sql`r.id = ${projectId}::uuid`),
  apiKey: late(own),
  contactField: late(own),
  suppression: late(own),
  topic: late(own),
  topicSubscription: late(of('topic_id', 'topic')),
  optIn: late(own),
  importedConsent: late(own),
  segment: late(own, FEW),
  segmentMember: late(of('segment_id', 'segment')),
  template: late(own, FEW),
  campaign: late(own, FEW),
  campaignPage: late(of('campaign_id', 'campaign')),
  automation: late(own),
  automationGraph: late(of('automation_id', 'automation'), 1),
  automationStep: late(of('automation_id', 'automation'), FEW),
  automationTransition: late(of('automation_id', 'automation')),
  job: late(own),
  jobFile: late(of('job_id', 'job'), 1),
  replyAddress: late(own),
  senderDomain: late(own),
  webhookEndpoint: late(own),
  webhookDelivery: late(of('endpoint_id', 'webhook_endpoint')),

  addressHashKey: { leftOut: 'it belongs to the installation; the file has it when that is asked for' },
  blockedLink: { leftOut: 'it belongs to the installation' },
  confirmationMail: { leftOut: 'it counts confirmations of the last day' },
  endedExecutionCount: { leftOut: 'it is counted again when the executions are stored' },
  knownNamespace: { leftOut: 'it belongs to the installation' },
  knownSecret: { leftOut: 'it belongs to the installation' },
  sourceDay: { leftOut: 'it belongs to the installation' },
  mtaStsPolicy: { leftOut: 'it belongs to the installation' },
  outbox: { leftOut: 'reconciliation makes it from what has not ended' },
  projectPermit: { leftOut: 'it holds moments of the last second' },
  providerHealth: { leftOut: 'it belongs to the installation' },
  rulesInUse: { leftOut: 'it belongs to the installation' },
  source: { leftOut: 'it belongs to the installation' },
  allowance: { leftOut: 'it counts what this installation has sent' },
  warmUp: { leftOut: 'it belongs to the installation' },
  rateWindow: { leftOut: 'it counts requests of the last minute' },
  textPiece: { leftOut: 'it is deleted within the request that makes it' },
  tlsResult: { leftOut: 'it belongs to the installation' },
  traceContext: { leftOut: 'traces do not go on elsewhere' },
  webhookFeed: { leftOut: 'its numbers belong to the installation' },
  webhookHorizon: { leftOut: 'it belongs to the installation' },
};

/** The tables of which a file has rows, in its order. */
export function tablesOfFile(): [name: TableName, rows: TableRows][] {
  return Object.entries(PROJECT_TABLES).flatMap(([name, rows]) =>
    'leftOut' in rows ? [] : [[name as TableName, rows] as [TableName, TableRows]],
  );
}

/** The columns of a table in SQL, as the schema has them. */
export function columnsInSql(name: TableName): string[] {
  return Object.keys(tables[name]).map(inSql);
}
