import { Migration } from '@mikro-orm/migrations';

/** Why a segment could not be computed, when it is tried again, and when its turn was last. */
const FAULTS = `
alter table segment
  add column compute_error text,
  add column compute_error_at timestamptz(3),
  add column compute_failures smallint not null default 0,
  add column retry_at timestamptz(3),
  add column refreshed_at timestamptz(3);
`;

export class SegmentFaultsMigration extends Migration {
  override up(): void {
    this.addSql(FAULTS);
  }
}
