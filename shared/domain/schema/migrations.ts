import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';
import { HumanEngagementsMigration } from './migrations/20261126000002-human-engagements.ts';
import { ScheduledEmailsMigration } from './migrations/20261126000004-scheduled-emails.ts';
import { ConsoleMigration } from './migrations/20261127000003-console.ts';
import { FasterPartsMigration } from './migrations/20261128000004-submission.ts';
import { BrandMigration } from './migrations/20261128000006-brand.ts';
import { EmailUpdatesMigration } from './migrations/20261128000009-email-updates.ts';
import { WarmUpSetbackMigration } from './migrations/20261128000020-warm-up-setback.ts';
import { NoPartsOfAddressesMigration } from './migrations/20261129000011-no-parts-of-addresses.ts';

export interface SchemaMigration {
  name: string;
  class: new (...args: ConstructorParameters<typeof Migration>) => Migration;
}

/** The migration that runs the file `migrations/<name>.sql` in a transaction. */
function fromFile(name: string): SchemaMigration {
  return {
    name,
    class: class extends Migration {
      override up(): void {
        this.addSql(readFileSync(new URL(`migrations/${name}.sql`, import.meta.url), 'utf8'));
      }
    },
  };
}

/** All migrations, in the order in which they run. */
export const MIGRATIONS: readonly SchemaMigration[] = [
  // The schema of version 0.1.0.
  fromFile('20261125000000-initial'),
  // The reasons why emails wait.
  fromFile('20261125000001-permits'),
  // Topics, the confirmation of subscriptions, the record of consent, and what machines do with email.
  fromFile('20261126000000-reader-choices'),
  // Keys with names and roles, and the record of who did what.
  fromFile('20261126000001-keys'),
  { name: '20261126000002-human-engagements', class: HumanEngagementsMigration },
  // Tags, scheduled emails, and the recipients in Cc and Bcc.
  fromFile('20261126000003-send-options'),
  { name: '20261126000004-scheduled-emails', class: ScheduledEmailsMigration },
  // Messages that arrive by SMTP.
  fromFile('20261126000005-submission'),
  // Automations that only people start, and waits that only people end.
  fromFile('20261127000002-readers'),
  { name: '20261127000003-console', class: ConsoleMigration },
  // Sources of mail and their traffic rules.
  fromFile('20261127000004-sources'),
  // Policies and results of TLS to mail hosts.
  fromFile('20261127000005-tls-reports'),
  // What providers made of emails, by source and day.
  fromFile('20261128000001-source-days'),
  // The warm-up of sources.
  fromFile('20261128000002-warm-up'),
  { name: '20261128000004-submission', class: FasterPartsMigration },
  { name: '20261128000006-brand', class: BrandMigration },
  { name: '20261128000009-email-updates', class: EmailUpdatesMigration },
  { name: '20261128000020-warm-up-setback', class: WarmUpSetbackMigration },
  // The rules that workers have, so that mail is not held by those of workers that are gone.
  fromFile('20261129000010-rules-in-use'),
  { name: '20261129000011-no-parts-of-addresses', class: NoPartsOfAddressesMigration },
  fromFile('20261129000012-speed-of-rules'),
  fromFile('20261129000013-audience-segments'),
];
