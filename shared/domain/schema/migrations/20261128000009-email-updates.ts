import { Migration } from '@mikro-orm/migrations';

/**
 * Scheduled emails by their moment. The index before this one named the status of an email, so that PostgreSQL wrote to
 * all indexes of the table whenever any email got another status (README.HOT of PostgreSQL).
 */
export class EmailUpdatesMigration extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql('drop index concurrently if exists email_by_schedule');
    this.addSql(
      'create index concurrently email_by_schedule on email (project_id, scheduled_at) where scheduled_at is not null',
    );
    this.addSql('drop index concurrently if exists email_scheduled');
  }
}
