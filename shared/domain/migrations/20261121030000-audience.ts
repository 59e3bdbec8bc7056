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

const SEGMENTS = `
alter table segment add column computed_at timestamptz(3);
`;

export class AudienceMigration extends Migration {
  override up(): void {
    this.addSql(JOBS);
    this.addSql(SEGMENTS);
  }
}
