import { Migration } from '@mikro-orm/migrations';

/** Which process holds an Idempotency-Key, by the application name of its sessions, and for which request. */
const CLAIMS = `
alter table idempotency_claim add column token uuid, add column owner text;
`;

/** What the clean-up looks for. */
const INDEXES = `
create index email_content_by_age on email_content (created_at);
create index email_content_by_attachment_set on email_content (attachment_set_id) where attachment_set_id is not null;
create index attachment_by_age on attachment (created_at);
`;

export class ClaimsMigration extends Migration {
  override up(): void {
    this.addSql(CLAIMS);
    this.addSql(INDEXES);
  }
}
