import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/** Tags, scheduled emails, and the recipients in Cc and Bcc. */
export class SendOptionsMigration extends Migration {
  override up(): void {
    this.addSql(readFileSync(new URL('20261126000003-send-options.sql', import.meta.url), 'utf8'));
  }
}
