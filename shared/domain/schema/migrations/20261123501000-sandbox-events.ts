import { Migration } from '@mikro-orm/migrations';

/** Events of emails to the sandbox are found, so that rates can leave them out. */
const INDEX = `
create index event_of_sandbox on event (project_id, created_at) where (data ->> 'to') like '%@sandbox.%';
`;

export class SandboxEventsMigration extends Migration {
  override up(): void {
    this.addSql(INDEX);
  }
}
