import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/** Automations that only people start, and waits that only people end. */
export class ReadersMigration extends Migration {
  override up(): void {
    this.addSql(readFileSync(new URL('20261127000002-readers.sql', import.meta.url), 'utf8'));
  }
}
