import { Migration } from '@mikro-orm/migrations';

/**
 * Tables that only grow are vacuumed and analyzed after 2 % of change, not 20 %: retention leaves few dead rows at a time then, the
 * statistics know the newest days, and counts by an index need not look at the rows. Three indexes go that no query uses.
 */
const UPKEEP = `
do $$
declare
  grown text;
begin
  foreach grown in array array[
    'event', 'email', 'email_content', 'attachment', 'automation_execution', 'step_execution', 'webhook_delivery'
  ] loop
    execute format('alter table %I set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, '
      'autovacuum_analyze_scale_factor = 0.02)', grown);
  end loop;
end
$$;
drop index email_content_by_age;
drop index email_content_by_attachment_set;
drop index attachment_by_age;
`;

export class UpkeepMigration extends Migration {
  override up(): void {
    this.addSql(UPKEEP);
  }
}
