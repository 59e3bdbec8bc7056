import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/** What providers made of emails, by source and day. */
export class SourceDaysMigration extends Migration {
  override up(): void {
    this.addSql(readFileSync(new URL('20261128000001-source-days.sql', import.meta.url), 'utf8'));
  }
}
