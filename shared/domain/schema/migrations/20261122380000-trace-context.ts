import { Migration } from '@mikro-orm/migrations';

/**
 * Where the trace of a request goes on, by the email, event, campaign, execution or job that it left to a workflow. Rows
 * are written only while tracing is on, and are removed after a day.
 */
const TRACE_CONTEXT = `
create table trace_context (
  subject_id uuid primary key,
  trace_parent text not null,
  created_at timestamptz(3) not null
);
create index trace_context_by_creation on trace_context (created_at);
`;

export class TraceContextMigration extends Migration {
  override up(): void {
    this.addSql(TRACE_CONTEXT);
  }
}
