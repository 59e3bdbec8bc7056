import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/** Policies and results of TLS to mail hosts. */
export class TlsReportsMigration extends Migration {
  override up(): void {
    this.addSql(readFileSync(new URL('20261127000005-tls-reports.sql', import.meta.url), 'utf8'));
  }
}
