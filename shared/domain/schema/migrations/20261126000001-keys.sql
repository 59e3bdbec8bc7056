-- Keys with names and roles, and the record of who did what.

create table api_key (
  id uuid primary key,
  project_id uuid not null references project (id) on delete cascade,
  name text not null,
  role text not null check (role in ('full', 'send', 'marketing', 'support', 'read', 'track')),
  -- SHA-256 of the key, hex.
  key_hash text not null unique,
  -- Whether it is one of the two keys that come with the project, which the row of the project has as well.
  is_first boolean not null default false,
  -- The only domains that it may send from; null means all of the project.
  sender_domains text[],
  expires_at timestamptz(3),
  last_used_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create index api_key_by_project on api_key (project_id, created_at, id);
create unique index api_key_first on api_key (project_id, role) where is_first;

-- Processes of the version before know only the two keys in the row of the project. What they write there counts.
create function everpost_keep_first_keys() returns trigger language plpgsql as $$
begin
  insert into api_key (id, project_id, name, role, key_hash, is_first, created_at, updated_at)
  select everpost_uuid_v7(), new.id, k.name, k.role, k.hash, true, now(), now()
  from (values
    ('Secret key', 'full', new.secret_key_hash, old.secret_key_hash),
    ('Public key', 'track', encode(sha256(convert_to(new.public_key, 'UTF8')), 'hex'),
      encode(sha256(convert_to(old.public_key, 'UTF8')), 'hex'))
  ) as k (name, role, hash, old_hash)
  where k.hash is distinct from k.old_hash
  on conflict (project_id, role) where is_first do update
    set key_hash = excluded.key_hash, expires_at = null, last_used_at = null, updated_at = now();
  return null;
end
$$;
create trigger project_first_keys after insert or update of public_key, secret_key_hash on project
  for each row execute function everpost_keep_first_keys();

insert into api_key (id, project_id, name, role, key_hash, is_first, created_at, updated_at)
select everpost_uuid_v7(), p.id, k.name, k.role, k.hash, true, p.created_at, p.updated_at
from project p cross join lateral (values
  ('Secret key', 'full', p.secret_key_hash),
  ('Public key', 'track', encode(sha256(convert_to(p.public_key, 'UTF8')), 'hex'))
) as k (name, role, hash);

-- One row per writing request, operator command and action in the console.
create table audit_entry (
  id uuid primary key,
  -- Null for a command that is about the whole instance.
  project_id uuid,
  actor text not null check (actor in ('key', 'console', 'operator')),
  key_id uuid,
  key_name text,
  operation text not null,
  subject_ids uuid[] not null default '{}',
  status smallint not null,
  request_id text,
  created_at timestamptz(3) not null default now()
) with (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02
);
create index audit_entry_by_project on audit_entry (project_id, created_at, id);
create index audit_entry_by_subject on audit_entry using gin (subject_ids);

-- The key that an email was sent with, by POST /v1/send.
alter table email add column key_id uuid;
