import { joinSql, sql, type SqlFragment } from '../../database/sql.ts';
import { dataValue, trusted, withoutContainment, type JsonValue } from './filter-predicates.ts';

/** A path of so few keys is read by an expression, a longer one by a function. */
const EXPRESSED_KEYS_MAX = 2;
/** A path has up to four columns, of which PostgreSQL allows 1,664. Further paths have no column. */
const PATHS_MAX = 400;

/** Whether the value at a path is read by a function, which costs at least ten times as much. */
export function isLongPath(path: string): boolean {
  return path.split('.').length > EXPRESSED_KEYS_MAX;
}

/**
 * Creates the shared document. A long path, and a path that several filters read, gets columns: one for its value, and
 * if a filter needs them, others for its text and its text in lower case. So each of 1,000 filters that search the text
 * at one path costs 0.06 µs instead of 0.5 µs.
 * @param alias the alias of the contact table
 * @param reads the number of filters that read each path
 */
export function createSharedDocument(alias: SqlFragment, reads: ReadonlyMap<string, number>) {
  const document = trusted('filter_data.data');
  const values: SqlFragment[] = [];
  const texts = new Map<string, SqlFragment>();
  const paths = new Map<string, JsonValue>();

  /** Adds a column at its first use. */
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
    valueAt(path: string): JsonValue {
      const known = paths.get(path);
      if (known) return known;
      const isColumn = values.length < PATHS_MAX && (isLongPath(path) || (reads.get(path) ?? 0) > 1);
      const value = isColumn ? columnsOf(path) : withoutContainment(dataValue(document, path));
      paths.set(path, value);
      return value;
    },
    /** The statement that evaluates a predicate over the values that `valueAt` returned. */
    around(predicate: SqlFragment): SqlFragment {
      // The concatenation with an empty document fetches and decompresses the data once. `offset 0` keeps the planner
      // from merging the levels.
      let from = sql`select ${alias}.data || '{}'::jsonb as data offset 0`;
      for (const columns of [values, [...texts.values()]]) {
        if (columns.length > 0) from = sql`select *, ${joinSql(columns, ', ')} from (${from}) filter_level offset 0`;
      }
      return sql`(select ${predicate} from (${from}) filter_data)`;
    },
  };
}

/** The custom data of a contact for many filters. It is fetched and decompressed once, and its values are read once. */
export type SharedDocument = ReturnType<typeof createSharedDocument>;
