-- Sources that warm up, and where each is at each provider.

-- The plan and the first day of a warm-up; null for a source that does not warm up.
alter table source add column warm_up jsonb;

create table warm_up (
  source text not null references source (name) on delete cascade,
  provider text not null,
  -- In UTC: the day that `use` counts.
  day date not null,
  -- The position in the plan; 0 is its first day.
  step integer not null,
  -- Why the day before was repeated, or a step back was taken.
  reason text,
  -- When the plan went on last.
  moved_on date,
  use jsonb not null,
  primary key (source, provider)
) with (fillfactor = 50);

-- The order in which the recipients of a campaign are stored, and how far; null for the order of their ids.
alter table campaign add column audience_order text, add column audience_before timestamptz(3);
