import { Migration } from '@mikro-orm/migrations';

/** The number of a step within its execution has the name of what it is. */
const RENAMES = `
alter table automation_execution rename column visit to step_number;
alter table step_execution rename column visit to step_number;
alter table step_execution rename constraint step_execution_execution_id_visit_key to step_execution_execution_id_step_number_key;
`;

export class StepNumberMigration extends Migration {
  override up(): void {
    this.addSql(RENAMES);
  }
}
