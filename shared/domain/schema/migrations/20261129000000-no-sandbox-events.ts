import { Migration } from '@mikro-orm/migrations';

/** Rates include emails to the sandbox, so nothing looks for their events alone. */
export class NoSandboxEventsMigration extends Migration {
  override up(): void {
    this.addSql('drop index event_of_sandbox');
  }
}
