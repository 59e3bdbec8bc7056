import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/** The schema of version 0.1.0. */
export class InitialMigration extends Migration {
  override up(): void {
    this.addSql(readFileSync(new URL('20261125000000-initial.sql', import.meta.url), 'utf8'));
  }
}
