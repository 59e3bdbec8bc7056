import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/** Topics, the confirmation of subscriptions, the record of consent, and what machines do with email. */
export class ReaderChoicesMigration extends Migration {
  override up(): void {
    this.addSql(readFileSync(new URL('20261126000000-reader-choices.sql', import.meta.url), 'utf8'));
  }
}
