import { Migration } from '@mikro-orm/migrations';

/**
 * Which hard bounce ended a subscription, so that it can be given back; null again as soon as anybody asks for a state.
 * The index finds the hard bounces of a project that took something, by time.
 */
const BOUNCE_UNDO = `
alter table contact add column bounced_email_id uuid;
create index email_by_hard_bounce on email (project_id, bounced_at, id)
  where bounced_at is not null and refusal ->> 'kind' = 'hard' and refusal ->> 'undoneAt' is null;
`;

export class BounceUndoMigration extends Migration {
  override up(): void {
    this.addSql(BOUNCE_UNDO);
  }
}
