import { Migration } from '@mikro-orm/migrations';

/**
 * Emails that a project has handed over for each provider on a UTC day, and complaints that came in on it. A campaign remembers
 * that somebody lets it go on whatever the rate is.
 */
const COMPLAINT_RATES = `
create table provider_day (
  project_id uuid not null,
  provider text not null,
  day date not null,
  sent integer not null default 0,
  complained integer not null default 0,
  primary key (project_id, provider, day)
);
create index provider_day_complained on provider_day (project_id, day) where complained > 0;
alter table campaign add column complaints_accepted boolean not null default false;`;

export class ComplaintRatesMigration extends Migration {
  override up(): void {
    this.addSql(COMPLAINT_RATES);
  }
}
