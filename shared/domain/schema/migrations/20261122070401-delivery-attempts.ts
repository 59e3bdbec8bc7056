import { Migration } from '@mikro-orm/migrations';

/**
 * How often the content of an email left for a server and no answer came back, and the moment before which an email that
 * was put off is not tried again.
 */
export class DeliveryAttemptsMigration extends Migration {
  override up(): void {
    this.addSql(
      'alter table email add column uncertain_attempts smallint not null default 0, add column retry_at timestamptz(3)',
    );
  }
}
