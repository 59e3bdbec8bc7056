-- What decides about held mail beside the rules of a project.

-- When an operator, or rules that ended, last changed what may go over a source.
alter table source add column changed_at timestamptz(3);

-- The rules and sources that workers have, each by a digest, and until when, unless a worker says so again.
create table rules_in_use (
  digest text primary key,
  ends_at timestamptz(3) not null default now()
);

-- Those of the workers of earlier versions, where any have run.
insert into rules_in_use (digest) select '' where exists (select from source);
