import { Migration } from '@mikro-orm/migrations';

/**
 * What lists of emails read, each index in the order of its list. `email_by_creation` grows at its end; two take the place of
 * indexes without that order. `trouble` is null for every email that goes the usual way, and an update that leaves it
 * null changes no index: the results and opens of a campaign stay heap-only updates.
 */
const EMAILS = `
alter table email
  add column attempts jsonb,
  add column trouble text generated always as (
    case when status in ('BOUNCED', 'COMPLAINED', 'FAILED', 'SKIPPED', 'SUPPRESSED', 'CANCELLED') then status end) stored;
create index email_by_creation on email (project_id, created_at, id);
create index email_by_trouble on email (project_id, trouble, created_at, id) where trouble is not null;
create index email_trouble_of_campaign on email (campaign_id, trouble, campaign_seq) where trouble is not null;
create index email_by_address on email (project_id, to_address, created_at, id) where to_address is not null;
drop index email_without_contact;
create index email_of_contact on email (contact_id, created_at, id) where contact_id is not null;
drop index email_by_contact;
`;

/** An address that somebody has suppressed by hand, and what they say of it. */
const SUPPRESSIONS = `
alter table suppression drop constraint suppression_reason_check;
alter table suppression
  add constraint suppression_reason_check check (reason in ('HARD_BOUNCE', 'COMPLAINT', 'MANUAL')),
  add column words text;
create index suppression_by_creation on suppression (project_id, created_at, address_hash);
`;

export class EmailListsMigration extends Migration {
  override up(): void {
    this.addSql(EMAILS);
    this.addSql(SUPPRESSIONS);
  }
}
