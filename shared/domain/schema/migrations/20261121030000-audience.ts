import { Migration } from '@mikro-orm/migrations';

const JOBS = `
create table job (
  id uuid primary key,
  project_id uuid not null references project on delete cascade,
  kind text not null check (kind in ('IMPORT', 'SUBSCRIBE', 'UNSUBSCRIBE', 'DELETE', 'DELETE_FIELD')),
  state text not null default 'waiting' check (state in ('waiting', 'active', 'completed', 'failed')),
  input jsonb not null default '{}',
  position integer not null default 0,
  total integer,
  counts jsonb not null default '{}',
  errors jsonb not null default '[]',
  failed_reason text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index job_by_project on job (project_id);

create table job_file (
  job_id uuid primary key references job on delete cascade,
  content bytea not null
);
-- Read once and dropped soon: compressing it would cost more than the room it takes.
alter table job_file alter column content set storage external;
`;

/**
 * No index on `contact.data`, and none on parts of addresses. On 1,000,000 contacts (282 MB) a scan answers every filter
 * in 90 to 250 ms. A GIN index with jsonb_path_ops takes 4.5 s to build and 77 MB, and answers equality alone, of rare
 * values, in 0.4 ms instead of 130 ms (of common ones it is slower: 200 instead of 126 ms). Every write of a contact
 * pays for it: 20,000 updates of one key took 1.2 to 1.3 s instead of 0.7 to 0.8 s, 20,000 inserts 0.38 to 0.47 s
 * instead of 0.32 to 0.40 s, and no update of data can be heap-only any more. Contacts are written by every tracked
 * event and read by filters a few times in five minutes. The same holds for trigrams of addresses: a search takes
 * 124 ms without. Events and memberships are found by the indexes they have.
 */
const SEGMENTS = `
alter table segment add column computed_at timestamptz(3);
`;

export class AudienceMigration extends Migration {
  override up(): void {
    this.addSql(JOBS);
    this.addSql(SEGMENTS);
  }
}
