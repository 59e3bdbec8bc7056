import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/** Messages that arrive by SMTP. */
export class SubmissionMigration extends Migration {
  override up(): void {
    this.addSql(readFileSync(new URL('20261126000005-submission.sql', import.meta.url), 'utf8'));
  }
}
