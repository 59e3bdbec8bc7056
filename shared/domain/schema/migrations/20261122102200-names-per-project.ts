import { Migration } from '@mikro-orm/migrations';

/**
 * The distinct names of events and of contact fields that callers make up have a limit per project. Both are checked only
 * when a name is new: what is known costs a look-up by index, and no statement counts. Names of Everpost's own events are
 * not counted. What was there before stays. Names that come at the same moment may pass the limit by their number.
 */
const EVENT_NAMES = `
create table event_name (
  project_id uuid not null,
  name text not null,
  primary key (project_id, name)
);

create function everpost_is_own_event(name text) returns boolean language sql immutable parallel safe as $$
  select name like 'email.%' or name in ('contact.subscribed', 'contact.unsubscribed')
    or name like 'segment.%.entry' or name like 'segment.%.exit'
$$;

insert into event_name select distinct project_id, name from event where not everpost_is_own_event(name);

create function everpost_note_event_names() returns trigger language plpgsql as $$
declare
  first record;
begin
  for first in
    with fresh as (
      select distinct r.project_id, r.name from recorded r
      where not everpost_is_own_event(r.name)
        and not exists (select from event_name k where k.project_id = r.project_id and k.name = r.name)
    ),
    noted as (
      insert into event_name select * from fresh order by project_id, name on conflict do nothing returning project_id
    )
    select distinct project_id from noted
  loop
    if (select count(*) from (select from event_name where project_id = first.project_id limit 5001) known) > 5000 then
      raise exception 'the project has too many names of events'
        using errcode = 'check_violation', constraint = 'event_names_limit';
    end if;
  end loop;
  return null;
end
$$;

create trigger event_names after insert on event
  referencing new table as recorded for each statement execute function everpost_note_event_names();
`;

const FIELDS = `
create function everpost_check_contact_fields() returns trigger language plpgsql as $$
declare
  first record;
begin
  for first in select distinct project_id from noted loop
    if (select count(*) from (select from contact_field where project_id = first.project_id limit 5001) known) > 5000 then
      raise exception 'the project has too many fields'
        using errcode = 'check_violation', constraint = 'contact_fields_limit';
    end if;
  end loop;
  return null;
end
$$;

create trigger contact_fields_limit after insert on contact_field
  referencing new table as noted for each statement execute function everpost_check_contact_fields();
`;

export class NamesPerProjectMigration extends Migration {
  override up(): void {
    this.addSql(EVENT_NAMES);
    this.addSql(FIELDS);
  }
}
