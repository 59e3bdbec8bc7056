-- Sources of mail, and the traffic rules that hold for them.

-- What an operator said about a source, and what workers say of it.
create table source (
  name text primary key,
  kind text not null,
  pool text not null,
  relay text not null,
  drained_at timestamptz(3),
  -- The plan of days by which it gets more mail each day, and since when; null for a source that is warm.
  warm_up jsonb,
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

-- What became of the mail that a source handed to a provider on a UTC day. `refused` counts by cause.
create table source_day (
  source text not null,
  provider text not null,
  day date not null,
  sent integer not null default 0,
  deferred integer not null default 0,
  refused jsonb not null default '{}',
  -- From the first attempt to the acceptance, added up.
  seconds_to_deliver double precision not null default 0,
  primary key (source, provider, day)
) with (fillfactor = 70);
create index source_day_day on source_day (day);

-- The pools of the streams of a project, and its own traffic rules.
alter table project add column pools jsonb, add column traffic_rules jsonb;
