import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/** Keys with names and roles, and the record of who did what. */
export class KeysMigration extends Migration {
  override up(): void {
    this.addSql(readFileSync(new URL('20261126000001-keys.sql', import.meta.url), 'utf8'));
  }
}
