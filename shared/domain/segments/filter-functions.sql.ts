import { ISO_DATE_TIME_PATTERN, ISO_DAY_PATTERN } from './iso-instant.ts';

/**
 * What the filter compiler needs from PostgreSQL. None of the functions raises, whatever a contact's data holds.
 *
 * - `everpost_instant(text)`: the moment that an ISO 8601 day (its midnight in UTC) or date-time names, else null. A
 *   function because the pattern must guard the cast; immutable because the offset is always in the text.
 * - `everpost_field(node, path)`: the value under a dotted path. At every object the longest key wins, so
 *   `{"a.b": 1}` comes before `{"a": {"b": 1}}`; null counts as missing. Every node of the document is reached at most
 *   once, so the cost is bounded by the document.
 * - `everpost_fold(text)`: lower case for comparing text beyond ASCII. A cluster with the locale C folds ASCII only, so
 *   ICU is used where the server was built with it.
 */
export const FILTER_FUNCTIONS_SQL = `
create function everpost_instant(value text) returns timestamptz
language plpgsql immutable strict parallel safe as $$
begin
  if value ~ '${ISO_DATE_TIME_PATTERN}' then
    return value::timestamptz;
  elsif value ~ '${ISO_DAY_PATTERN}' then
    return (value || 'T00:00:00Z')::timestamptz;
  end if;
  return null;
end
$$;

create function everpost_field(node jsonb, path text) returns jsonb
language plpgsql immutable strict parallel safe as $$
declare
  found jsonb;
  keys text[];
begin
  if jsonb_typeof(node) <> 'object' then
    return null;
  end if;
  found := node -> path;
  if jsonb_typeof(found) <> 'null' then
    return found;
  end if;
  keys := string_to_array(path, '.');
  for cut in reverse cardinality(keys) - 1 .. 1 loop
    found := everpost_field(node -> array_to_string(keys[:cut], '.'), array_to_string(keys[cut + 1:], '.'));
    if found is not null then
      return found;
    end if;
  end loop;
  return null;
end
$$;

do $$
begin
  execute format(
    'create function everpost_fold(value text) returns text language sql immutable strict parallel safe return lower(value %s)',
    case when exists (select 1 from pg_catalog.pg_collation where collname = 'und-x-icu')
      then 'collate "und-x-icu"' else '' end);
end
$$;
`;
