import { joinSql, sql, type SqlFragment } from '../database/sql.ts';
import { dataValue, trusted, withoutContainment, type JsonValue } from './filter-predicates.ts';

/** Paths of up to this many keys are read in the expression, longer ones by a function. */
const EXPRESSED_KEYS_MAX = 2;
/** PostgreSQL takes 1,664 columns; a path has up to four. The paths beyond are read wherever they are needed. */
const PATHS_MAX = 400;

/** Whether the value at a path is looked up by a function, which costs ten times as much and more. */
export function isLongPath(path: string): boolean {
  return path.split('.').length > EXPRESSED_KEYS_MAX;
}

/** The custom data of a contact as many filters share it: fetched, decompressed and looked up once. */
export interface SharedDocument {
  valueAt: (path: string) => JsonValue;
  /** Evaluates a predicate over the values that `valueAt` returned. */
  around: (predicate: SqlFragment) => SqlFragment;
}

/**
 * Creates the shared form of the data of one contact. A path that several filters read, or that is long, is a column: its
 * value, and where a filter needs them its text and its text in lower case. With 1,000 filters that look for a text under
 * one path, each costs 0.06 µs instead of 0.5 µs.
 * @param alias of the contact table
 * @param reads how many filters read each path
 */
export function createSharedDocument(alias: SqlFragment, reads: ReadonlyMap<string, number>): SharedDocument {
  const document = trusted('filter_data.data');
  const values: SqlFragment[] = [];
  const texts = new Map<string, SqlFragment>();
  const paths = new Map<string, JsonValue>();

  function textColumn(name: string, expression: SqlFragment): SqlFragment {
    texts.set(name, sql`${expression} as ${trusted(name)}`);
    return trusted(name);
  }

  function columnsOf(path: string): JsonValue {
    const name = `path_${values.length}`;
    const json = trusted(name);
    values.push(
      sql`${isLongPath(path) ? sql`everpost_field(data, ${path}::text)` : dataValue(sql`data`, path).json} as ${json}`,
    );
    const text = sql`${json} #>> '{}'`;
    const ifString = (value: SqlFragment) => sql`case when jsonb_typeof(${json}) = 'string' then ${value} end`;
    return {
      json,
      get text() {
        return textColumn(`${name}_text`, text);
      },
      get lowered() {
        return textColumn(`${name}_lowered`, ifString(sql`lower((${text}) collate "C")`));
      },
      get folded() {
        return textColumn(`${name}_folded`, ifString(sql`everpost_fold(${text})`));
      },
    };
  }

  return {
    valueAt(path) {
      const known = paths.get(path);
      if (known) return known;
      const isColumn = values.length < PATHS_MAX && (isLongPath(path) || (reads.get(path) ?? 0) > 1);
      const value = isColumn ? columnsOf(path) : withoutContainment(dataValue(document, path));
      paths.set(path, value);
      return value;
    },
    around(predicate) {
      // Joining it with an empty document fetches and decompresses it once; each offset keeps a level from being merged.
      let from = sql`select ${alias}.data || '{}'::jsonb as data offset 0`;
      for (const columns of [values, [...texts.values()]]) {
        if (columns.length > 0) from = sql`select *, ${joinSql(columns, ', ')} from (${from}) filter_level offset 0`;
      }
      return sql`(select ${predicate} from (${from}) filter_data)`;
    },
  };
}
