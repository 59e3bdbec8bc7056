import { Migration } from '@mikro-orm/migrations';

/**
 * Ends of executions in the order in which they are stored: `completed_at` is a time of the worker, `updated_at` of the
 * transaction, and nothing updates an execution that has ended.
 */
const INDEX = `
create index automation_execution_by_end on automation_execution (project_id, updated_at, id) where completed_at is not null;
`;

export class EndedExecutionsMigration extends Migration {
  override up(): void {
    this.addSql(INDEX);
  }
}
