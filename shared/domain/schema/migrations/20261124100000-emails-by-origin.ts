import { Migration } from '@mikro-orm/migrations';

/**
 * Emails of a template and of an automation are listed by time. Those to an address are found by a number in place of the
 * text, in whose order a campaign would write all over the index, and compare texts on its way.
 */
const INDEXES = `
create index email_of_template on email (template_id, created_at, id) where template_id is not null;
drop index email_by_template;
create index email_of_automation on email (automation_id, created_at, id) where automation_id is not null;
create index email_of_address on email (hashtextextended(to_address, uuid_hash_extended(project_id, 0)), created_at)
  where to_address is not null;
drop index email_by_address;
`;

export class EmailsByOriginMigration extends Migration {
  override up(): void {
    this.addSql(INDEXES);
  }
}
