import { Migration } from '@mikro-orm/migrations';

/** A restart may reuse the id of a workflow that has closed; a first start may not. */
export class ReconciliationMigration extends Migration {
  override up(): void {
    this.addSql('alter table outbox add column is_restart boolean not null default false');
  }
}
