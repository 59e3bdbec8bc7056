import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/** Sources of mail and their traffic rules. */
export class SourcesMigration extends Migration {
  override up(): void {
    this.addSql(readFileSync(new URL('20261127000004-sources.sql', import.meta.url), 'utf8'));
  }
}
