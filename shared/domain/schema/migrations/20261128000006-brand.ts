import { Migration } from '@mikro-orm/migrations';

/** The colour of a project's sender on the pages for recipients. */
export class BrandMigration extends Migration {
  override up(): void {
    this.addSql('alter table project add column if not exists brand_color text');
  }
}
