import { Migration } from '@mikro-orm/migrations';

/**
 * A contact's custom data has at most 500 keys and 65,536 bytes of JSON, whichever statement writes it. The check stands
 * in a trigger and not in a constraint, because what was stored before may stay as it is and may shrink. The size of the
 * binary form decides for nearly every row: 501 keys alone take more than 4,000 bytes of it.
 */
const CONTACT_DATA = `
-- PostgreSQL writes a space after every comma and colon; JSON as it is sent has none.
create function everpost_json_bytes(value jsonb) returns integer
language sql immutable strict parallel safe as $$
  select octet_length(regexp_replace(value::text, '("(?:[^"\\\\]|\\\\.)*")|\\s', '\\1', 'g'))
$$;

-- Whether a contact may hold this data, having held what was there before.
create function everpost_contact_data_fits(data jsonb, before jsonb) returns boolean
language plpgsql immutable parallel safe as $$
declare
  bytes integer := octet_length(data::text);
begin
  if (select count(*) from jsonb_object_keys(data)) > 500
    and (before is null
      or (select count(*) from jsonb_object_keys(data)) > (select count(*) from jsonb_object_keys(before))) then
    return false;
  end if;
  return bytes <= 65536
    or (bytes <= 65536 * 3 / 2 and everpost_json_bytes(data) <= 65536)
    or (before is not null and bytes <= octet_length(before::text));
end
$$;

create function everpost_check_contact_data() returns trigger language plpgsql as $$
declare
  before jsonb := case when tg_op = 'UPDATE' then old.data end;
begin
  if everpost_contact_data_fits(new.data, before) then
    return new;
  end if;
  raise exception 'the data of a contact is too large'
    using errcode = 'check_violation', constraint = 'contact_data_limit', detail = new.id;
end
$$;

create trigger contact_data_limit before insert or update of data on contact
  for each row when (pg_column_size(new.data) > 4000) execute function everpost_check_contact_data();
`;

export class ContactDataLimitMigration extends Migration {
  override up(): void {
    this.addSql(CONTACT_DATA);
  }
}
