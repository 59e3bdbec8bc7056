import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/** The warm-up of sources. */
export class WarmUpMigration extends Migration {
  override up(): void {
    this.addSql(readFileSync(new URL('20261128000002-warm-up.sql', import.meta.url), 'utf8'));
  }
}
