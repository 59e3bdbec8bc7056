-- Sources of mail, and the traffic rules that hold for them.

-- What an operator said about a source, and what workers say of it.
create table source (
  name text primary key,
  kind text not null,
  pool text not null,
  relay text not null,
  drained_at timestamptz(3),
  seen_at timestamptz(3) not null default now()
);

-- What all workers have used of a traffic rule. The subject is a source, or a project as `project:<id>`.
create table allowance (
  subject text not null,
  provider text not null,
  state jsonb not null,
  used_at timestamptz(3) not null default now(),
  primary key (subject, provider)
) with (fillfactor = 50);
create index allowance_used_at on allowance (used_at);

-- The pools of the streams of a project, and its own traffic rules.
alter table project add column pools jsonb, add column traffic_rules jsonb;
