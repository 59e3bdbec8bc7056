import type { Migration } from '@mikro-orm/migrations';
import { InitialMigration } from './migrations/20261125000000-initial.ts';
import { ReaderChoicesMigration } from './migrations/20261126000000-reader-choices.ts';
import { KeysMigration } from './migrations/20261126000001-keys.ts';
import { HumanEngagementsMigration } from './migrations/20261126000002-human-engagements.ts';
import { SendOptionsMigration } from './migrations/20261126000003-send-options.ts';
import { ScheduledEmailsMigration } from './migrations/20261126000004-scheduled-emails.ts';
import { SubmissionMigration } from './migrations/20261126000005-submission.ts';
import { ReadersMigration } from './migrations/20261127000002-readers.ts';
import { ConsoleMigration } from './migrations/20261127000003-console.ts';
import { SourcesMigration } from './migrations/20261127000004-sources.ts';
import { TlsReportsMigration } from './migrations/20261127000005-tls-reports.ts';
import { SourceDaysMigration } from './migrations/20261128000001-source-days.ts';
import { WarmUpMigration } from './migrations/20261128000002-warm-up.ts';
import { FasterPartsMigration } from './migrations/20261128000004-submission.ts';
import { BrandMigration } from './migrations/20261128000006-brand.ts';
import { EmailUpdatesMigration } from './migrations/20261128000009-email-updates.ts';
import { WarmUpSetbackMigration } from './migrations/20261128000020-warm-up-setback.ts';

export interface SchemaMigration {
  name: string;
  class: new (...args: ConstructorParameters<typeof Migration>) => Migration;
}

/** All migrations, in the order in which they run. */
export const MIGRATIONS: readonly SchemaMigration[] = [
  { name: '20261125000000-initial', class: InitialMigration },
  { name: '20261126000000-reader-choices', class: ReaderChoicesMigration },
  { name: '20261126000001-keys', class: KeysMigration },
  { name: '20261126000002-human-engagements', class: HumanEngagementsMigration },
  { name: '20261126000003-send-options', class: SendOptionsMigration },
  { name: '20261126000004-scheduled-emails', class: ScheduledEmailsMigration },
  { name: '20261126000005-submission', class: SubmissionMigration },
  { name: '20261127000002-readers', class: ReadersMigration },
  { name: '20261127000003-console', class: ConsoleMigration },
  { name: '20261127000004-sources', class: SourcesMigration },
  { name: '20261127000005-tls-reports', class: TlsReportsMigration },
  { name: '20261128000001-source-days', class: SourceDaysMigration },
  { name: '20261128000002-warm-up', class: WarmUpMigration },
  { name: '20261128000004-submission', class: FasterPartsMigration },
  { name: '20261128000006-brand', class: BrandMigration },
  { name: '20261128000009-email-updates', class: EmailUpdatesMigration },
  { name: '20261128000020-warm-up-setback', class: WarmUpSetbackMigration },
];
