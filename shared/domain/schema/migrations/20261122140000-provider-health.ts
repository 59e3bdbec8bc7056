import { Migration } from '@mikro-orm/migrations';

/**
 * What all workers know of a recipients' provider behind a relay: pauses, the speed it takes, its latest results. Only
 * providers that refuse have a row. An email remembers since when it is held for a pause, a campaign what it waits for.
 */
const PROVIDER_HEALTH = `
create table provider_health (
  relay text not null,
  provider text not null,
  state jsonb not null,
  primary key (relay, provider)
);
alter table email add column held_at timestamptz(3);
alter table campaign add column waiting jsonb;`;

export class ProviderHealthMigration extends Migration {
  override up(): void {
    this.addSql(PROVIDER_HEALTH);
  }
}
