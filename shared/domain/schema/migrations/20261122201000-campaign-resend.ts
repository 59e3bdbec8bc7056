import { Migration } from '@mikro-orm/migrations';

/** The recipients who are to be sent to again: their states at a moment, and the number up to which they have been queued. */
export class CampaignResendMigration extends Migration {
  override up(): void {
    this.addSql(`
      alter table campaign
        add column resend_states text[],
        add column resend_as_of timestamptz(3),
        add column resend_after_seq integer not null default 0`);
  }
}
