import { Migration } from '@mikro-orm/migrations';

/** When the next transactional email of a throttled project may go: ahead of what is set aside for its campaigns. */
export class UrgentBudgetMigration extends Migration {
  override up(): void {
    this.addSql('alter table send_budget add column urgent_free_at timestamptz(6)');
  }
}
