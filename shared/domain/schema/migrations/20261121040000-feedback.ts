import { Migration } from '@mikro-orm/migrations';

/**
 * What comes back from recipients. The moments in `email` are in no index of their own: an open or a click then changes
 * no index (a heap-only update), which is what lets a big campaign be opened by everybody at once.
 */
const FEEDBACK = `
alter table email
  add column opens integer not null default 0,
  add column clicks integer not null default 0,
  add column unsubscribed_at timestamptz(3);
alter table campaign
  add column suppressed_count integer not null default 0,
  add column scheduled_at timestamptz(3);

create table suppression (
  project_id uuid not null references project on delete cascade,
  email text not null,
  reason text not null check (reason in ('HARD_BOUNCE', 'COMPLAINT')),
  email_id uuid,
  created_at timestamptz(3) not null default now(),
  primary key (project_id, email)
);

create index email_content_by_reply_to on email_content (lower(reply_to)) where reply_to is not null;

-- One row per mail that was opened, clicked or bounced hard: what statistics count.
create index event_first_of_mail on event (project_id, name, created_at) where
  (name = 'email.open' and data->>'isFirstOpen' = 'true')
  or (name = 'email.click' and data->>'isFirstClick' = 'true')
  or (name = 'email.bounce' and data->>'bounceType' = 'hard');
create index campaign_by_sent_at on campaign (project_id, sent_at, id) where sent_at is not null;
create index campaign_by_scheduled_at on campaign (project_id, scheduled_at, id) where scheduled_at is not null;
create index automation_execution_by_completion on automation_execution (project_id, completed_at, id)
  where completed_at is not null;
`;

export class FeedbackMigration extends Migration {
  override up(): void {
    this.addSql(FEEDBACK);
  }
}
