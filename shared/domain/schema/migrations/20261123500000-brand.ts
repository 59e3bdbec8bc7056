import { Migration } from '@mikro-orm/migrations';

/** What recipients see of a project; preview text and text part of an author's own. */
const COLUMNS = `
alter table project
  add column display_name text,
  add column postal_address text,
  add column logo_url text,
  add column language text;
alter table template
  add column preheader text,
  add column body_text text;
alter table campaign
  add column preheader text,
  add column body_text text;
`;

export class BrandMigration extends Migration {
  override up(): void {
    this.addSql(COLUMNS);
  }
}
