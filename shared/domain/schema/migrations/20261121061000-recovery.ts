import { Migration } from '@mikro-orm/migrations';

/**
 * Which delivery holds a transactional mail, and when something must have come of it. The moment is null once the mail
 * has its outcome and for all mail of campaigns: an index on undecided states would have to be changed with every result
 * of a campaign, one on this column never is.
 */
const MAIL = `
alter table email add column delivery_id uuid, add column delivery_due_at timestamptz(3);
update email set delivery_due_at = created_at
  where campaign_id is null and status in ('PENDING', 'SENDING') and created_at > now() - interval '2 days';
create index email_delivery_due on email (delivery_due_at) where delivery_due_at is not null;
`;

/** Open jobs that nothing has moved for a while, and ended ones that are old. */
const JOBS = `
create index job_by_state on job (state, updated_at);
`;

export class RecoveryMigration extends Migration {
  override up(): void {
    this.addSql(MAIL);
    this.addSql(JOBS);
  }
}
