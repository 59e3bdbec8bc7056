import { Migration } from '@mikro-orm/migrations';

/** The index by which the scheduled emails of a project are counted. */
export class ScheduledEmailsMigration extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    // An interruption leaves an index that is not valid.
    this.addSql('drop index concurrently if exists email_scheduled');
    this.addSql(
      "create index concurrently email_scheduled on email (project_id, scheduled_at) where scheduled_at is not null and status = 'PENDING'",
    );
  }
}
