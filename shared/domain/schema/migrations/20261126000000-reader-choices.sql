-- What readers choose: topics, a pause, tracking, the confirmation of a subscription, and the record of all of it.

create table topic (
  id uuid primary key,
  project_id uuid not null references project (id) on delete cascade,
  key text not null,
  name text not null,
  description text,
  -- The name and description in other languages, by language.
  texts jsonb not null default '{}',
  default_subscription text not null check (default_subscription in ('opt_in', 'opt_out')),
  visibility text not null default 'public' check (visibility in ('public', 'private')),
  -- Whether a subscription through a form has to be confirmed; null means as the project says.
  double_opt_in boolean,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  unique (project_id, key)
);
create index topic_by_creation on topic (project_id, created_at, id);

-- What a contact has chosen. Without a row the default of the topic holds.
create table topic_subscription (
  topic_id uuid not null references topic (id) on delete cascade,
  contact_id uuid not null,
  subscribed boolean not null,
  updated_at timestamptz(3) not null default now(),
  primary key (topic_id, contact_id)
);
create index topic_subscription_by_contact on topic_subscription (contact_id);

-- One row per change, never changed later.
create table consent_record (
  contact_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  -- Null means all marketing.
  topic_id uuid,
  state text not null check (state in
    ('subscribed', 'unsubscribed', 'pending', 'expired', 'paused', 'resumed', 'tracking_allowed', 'tracking_denied')),
  cause text not null,
  details jsonb not null default '{}',
  email_id uuid,
  campaign_id uuid,
  client_address text,
  wording_id text,
  created_at timestamptz(3) not null default now(),
  primary key (contact_id, id)
);
create index consent_record_by_time on consent_record using brin (created_at);
create index consent_record_by_wording on consent_record (wording_id) where wording_id is not null;

-- The consent of the contacts that a part of an import has created as subscribed. It is theirs who have an id from
-- first_contact_id to last_contact_id and the same time of creation.
create table imported_consent (
  id uuid primary key,
  project_id uuid not null references project (id) on delete cascade,
  job_id uuid not null,
  first_contact_id uuid not null,
  last_contact_id uuid not null,
  -- Those of them who were not subscribed.
  except_ids uuid[] not null,
  created_at timestamptz(3) not null default now()
);
create index imported_consent_by_time on imported_consent (project_id, created_at);

-- The words that somebody agreed to, by a hash of them.
create table wording (
  id text primary key,
  content text not null,
  created_at timestamptz(3) not null default now()
);

-- A subscription that waits for its confirmation.
create table opt_in (
  id uuid primary key,
  project_id uuid not null references project (id) on delete cascade,
  contact_id uuid not null,
  topic_ids uuid[] not null default '{}',
  state text not null default 'pending' check (state in ('pending', 'confirmed', 'expired')),
  -- What the form said of the person. It is stored on the contact when they confirm.
  language text,
  data jsonb not null default '{}',
  client_address text,
  wording_id text,
  -- Whether it has created its contact, who is deleted if they never confirm.
  is_first boolean not null,
  -- Confirmations and reminders queued so far.
  mails smallint not null default 0,
  -- Whether a confirmation was asked for that is not queued yet.
  is_mail_wanted boolean not null default true,
  remind_at timestamptz(3),
  -- When its workflow has something to do next.
  due_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  confirmed_at timestamptz(3),
  created_at timestamptz(3) not null default now()
);
create unique index opt_in_pending on opt_in (contact_id) where state = 'pending';
create index opt_in_by_contact on opt_in (contact_id, created_at);
create index opt_in_by_project on opt_in (project_id, created_at, id);
create index opt_in_due on opt_in (due_at) where state = 'pending';
create index opt_in_ended on opt_in (expires_at) where state <> 'pending';

-- The confirmations of a day, by the hash of the address: they count even when contacts are deleted.
create table confirmation_mail (
  project_id uuid not null references project (id) on delete cascade,
  address_hash bytea not null,
  queued_at timestamptz(3) not null default now()
);
create index confirmation_mail_by_address on confirmation_mail (project_id, address_hash, queued_at);
create index confirmation_mail_by_time on confirmation_mail (queued_at);

alter table contact
  add column is_pending boolean not null default false,
  add column paused_until timestamptz(3),
  add column tracking_allowed boolean;
alter table template add column topic_id uuid;
create index template_by_topic on template (topic_id) where topic_id is not null;
alter table campaign
  add column topic_id uuid,
  add column is_public boolean not null default false,
  add column human_opened_count integer not null default 0,
  add column human_clicked_count integer not null default 0;
create index campaign_by_topic on campaign (topic_id) where topic_id is not null;
create index campaign_public on campaign (project_id, sent_at, id) where is_public and sent_at is not null;
alter table email
  add column topic_id uuid,
  add column human_opened_at timestamptz(3),
  add column human_clicked_at timestamptz(3);
alter table project
  add column double_opt_in jsonb,
  add column client_addresses text not null default 'SHORTENED'
    check (client_addresses in ('FULL', 'SHORTENED', 'NONE')),
  drop constraint project_tracking_check,
  add constraint project_tracking_check check (tracking in ('MARKETING_ONLY', 'ENABLED', 'DISABLED', 'CONSENTED'));

-- As before, with the events of topics and pauses.
create or replace function everpost_is_own_event(name text) returns boolean language sql immutable parallel safe as $$
  select name like 'email.%'
    or name in ('contact.subscribed', 'contact.unsubscribed', 'contact.paused', 'contact.resumed',
      'topic.subscribed', 'topic.unsubscribed')
    or name like 'segment.%.entry' or name like 'segment.%.exit'
$$;

create or replace function everpost_depth_of_cause(p_name text, p_contact uuid, p_email uuid, p_data jsonb)
returns smallint language sql stable as $$
  select coalesce(
    case
      when p_email is not null then (
        select x.depth from email e join automation_execution x on x.id = e.execution_id
        where e.id = p_email and (
          p_name not in ('email.open', 'email.click', 'email.received',
            'contact.subscribed', 'contact.unsubscribed', 'contact.paused', 'contact.resumed',
            'topic.subscribed', 'topic.unsubscribed')
          or coalesce(e.sent_at, e.created_at) > now() - interval '1 hour'
        ))
      when p_name in ('contact.subscribed', 'contact.unsubscribed', 'topic.subscribed', 'topic.unsubscribed') then (
        select x.depth from automation_execution x where x.id = (p_data ->> 'executionId')::uuid)
      when p_name like 'segment.%' then (
        select c.changed_depth from contact c
        where c.id = p_contact and c.changed_depth_at > now() - interval '1 hour')
    end, 0)::smallint
$$;
