import { Migration } from '@mikro-orm/migrations';

/**
 * The functions of filters again, with the same answers at a part of the time:
 *
 * - `everpost_field(node, path)` looks for all keys that hold dots at once in each object and goes down plainly where
 *   there is none. What the path says for every contact alike is computed once, while the statement is planned.
 * - `everpost_instant(text)` knows the two usual spellings of a moment without a regular expression.
 */
const FIELD = `
-- The names that hold dots which a path may stand for: for each first key those that begin with it, the longest first.
create function everpost_joined_keys(keys text[]) returns text[]
language sql immutable strict parallel safe as $$
  select coalesce(array_agg(array_to_string(keys[f:l], '.') order by f, l desc), '{}')
  from generate_series(1, cardinality(keys) - 1) f, lateral generate_series(f + 1, cardinality(keys)) l
$$;

create function everpost_field(node jsonb, keys text[], joined text[], first_key integer) returns jsonb
language plpgsql immutable parallel safe as $$
declare
  last_key constant integer := cardinality(keys);
  -- Names in joined before those that begin with the key.
  before integer := (first_key - 1) * (2 * last_key - first_key) / 2;
  found jsonb;
begin
  for key in first_key .. last_key - 1 loop
    if jsonb_typeof(node) is distinct from 'object' then
      return null;
    end if;
    if node ?| joined[before + 1 : before + last_key - key] then
      for name in before + 1 .. before + last_key - key loop
        found := node -> joined[name];
        if found is not null then
          if name > before + 1 then
            found := everpost_field(found, keys, joined, last_key - (name - before) + 2);
          end if;
          if jsonb_typeof(found) <> 'null' then
            return found;
          end if;
        end if;
      end loop;
    end if;
    before := before + last_key - key;
    node := node -> keys[key];
  end loop;
  if jsonb_typeof(node) is distinct from 'object' then
    return null;
  end if;
  found := node -> keys[last_key];
  return case when jsonb_typeof(found) <> 'null' then found end;
end
$$;

create or replace function everpost_field(node jsonb, path text) returns jsonb
language sql immutable parallel safe as $$
  select everpost_field(node, string_to_array(path, '.'), everpost_joined_keys(string_to_array(path, '.')), 1)
$$;
`;

const INSTANT = `
alter function everpost_instant(text) rename to everpost_any_instant;

create function everpost_instant(value text) returns timestamptz
language plpgsql immutable strict parallel safe as $$
begin
  if translate(value, '123456789', '000000000') in ('0000-00-00T00:00:00.000Z', '0000-00-00T00:00:00Z') then
    -- PostgreSQL takes the hour 24 and the second 60 as well.
    if substr(value, 12, 2) > '23' or substr(value, 18, 2) > '59' or not pg_input_is_valid(value, 'timestamptz') then
      return null;
    end if;
    return value::timestamptz;
  end if;
  return everpost_any_instant(value);
end
$$;
`;

export class FilterFunctionsMigration extends Migration {
  override up(): void {
    this.addSql(FIELD);
    this.addSql(INSTANT);
  }
}
