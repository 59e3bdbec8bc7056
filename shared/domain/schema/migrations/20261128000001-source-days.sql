-- What providers made of emails, by the source that carried them.

create table source_day (
  source text not null,
  -- A provider, or `other` for those beyond the number that a source and a day have rows for.
  provider text not null,
  -- In UTC.
  day date not null,
  -- Emails that the provider answered; each once a day.
  offered integer not null default 0,
  accepted integer not null default 0,
  deferred_speed integer not null default 0,
  deferred_reputation integer not null default 0,
  deferred_other integer not null default 0,
  -- The mailbox or the domain does not exist.
  refused_mailbox integer not null default 0,
  refused_reputation integer not null default 0,
  refused_other integer not null default 0,
  complaints integer not null default 0,
  -- From when the accepted emails were due until they were accepted, added up.
  delivery_ms bigint not null default 0,
  primary key (source, provider, day)
);
create index source_day_day on source_day (day, source);

-- The source that carried an email and the provider that took it; what was counted of an email that was put off.
alter table email add column carrier text, add column answered jsonb;
