import { Migration } from '@mikro-orm/migrations';

/** An index of the events that are the first of a person or the first of all, but not both. It is built beside work. */
export class HumanEngagementsMigration extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql('drop index concurrently if exists event_first_of_human');
    this.addSql(`
      create index concurrently event_first_of_human on event (project_id, name, created_at)
      where data->>'isFirstHumanOpen' is not null or data->>'isFirstHumanClick' is not null`);
  }
}
