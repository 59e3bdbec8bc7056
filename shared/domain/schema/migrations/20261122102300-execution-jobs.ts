import { Migration } from '@mikro-orm/migrations';

/** Jobs that cancel or delete the executions which are too many for one transaction. */
const KINDS = `
alter table job drop constraint job_kind_check;
alter table job add constraint job_kind_check check (kind in
  ('IMPORT', 'SUBSCRIBE', 'UNSUBSCRIBE', 'DELETE', 'DELETE_FIELD', 'CANCEL_EXECUTIONS', 'DELETE_EXECUTIONS'));
`;

export class ExecutionJobsMigration extends Migration {
  override up(): void {
    this.addSql(KINDS);
  }
}
