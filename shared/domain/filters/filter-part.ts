import type { Filter } from '../../pure/filters/filter-condition.ts';
import { joinSql, sql, type SqlFragment } from '../database/sql.ts';
import { dataValue, FALSE, jsonPredicate, sharedDataValue, TRUE, trusted } from './filter-predicates.ts';

/**
 * A part of a compiled condition. A part that reads only custom data has a second form, over a document that many filters
 * share. Each filter that names the column would fetch and decompress it again, which for some kilobytes of data costs
 * a hundred times as much as the filter itself.
 */
export interface FilterPart {
  /** Over the row of `contact`, where an index may serve it. */
  plain: SqlFragment;
  shared?: SharedForm;
}

interface SharedForm {
  predicate: SqlFragment;
  /** How often it reads the document. */
  reads: number;
  /** Paths that are looked up once for each document, whatever asks for them. */
  paths: ReadonlySet<string>;
}

/** Up to this many filters read the column itself, because indexes can serve them. */
const PLAIN_READS_MAX = 4;
/** Paths of up to this many keys are read in the expression, longer ones by a function. */
const EXPRESSED_KEYS_MAX = 2;

/** Turns parts of one condition into SQL. */
export interface FilterParts {
  /** A filter on custom data. */
  ofData: (path: string, filter: Filter, asOf: Date) => FilterPart;
  allOf: (parts: FilterPart[]) => FilterPart;
  anyOf: (parts: FilterPart[]) => FilterPart;
  /** A predicate that is true wherever the part is false or null. */
  negated: (part: FilterPart) => FilterPart;
  /** The predicate to put into a statement. */
  close: (part: FilterPart) => SqlFragment;
}

/** @param alias of the contact table in the statement around the predicate */
export function createFilterParts(alias: SqlFragment): FilterParts {
  const columns = new Map<string, SqlFragment>();
  const columnOf = (path: string): SqlFragment => {
    const column = columns.get(path) ?? trusted(`path_${columns.size}`);
    columns.set(path, column);
    return column;
  };

  /** Evaluates the predicate over the document and the values under its long paths, each read once for a contact. */
  const withDocument = ({ predicate, paths }: SharedForm): SqlFragment => {
    // Joining it with an empty document fetches and decompresses it once; the offset keeps that from being repeated.
    const document = sql`select ${alias}.data || '{}'::jsonb as data offset 0`;
    if (paths.size === 0) return sql`(select ${predicate} from (${document}) filter_data)`;
    const values = [...paths].map((path) => sql`everpost_field(data, ${path}::text) as ${columnOf(path)}`);
    return sql`(select ${predicate} from (
      select data, ${joinSql(values, ', ')} from (${document}) filter_document offset 0) filter_data)`;
  };

  const close = ({ plain, shared }: FilterPart): SqlFragment => {
    if (!shared || (shared.paths.size === 0 && shared.reads <= PLAIN_READS_MAX)) return plain;
    return withDocument(shared);
  };

  const combine = (parts: FilterPart[], operator: 'and' | 'or'): FilterPart => {
    const [neutral, absorbing] = operator === 'and' ? [TRUE, FALSE] : [FALSE, TRUE];
    if (parts.some((part) => part.plain === absorbing)) return { plain: absorbing };
    const open = parts.filter((part) => part.plain !== neutral);
    if (open.length < 2) return open[0] ?? { plain: neutral };
    const onData = open.flatMap((part) => part.shared ?? []);
    const join = (fragments: SqlFragment[]) => sql`(${joinSql(fragments, ` ${operator} `)})`;
    if (onData.length === open.length) {
      const shared = {
        predicate: join(onData.map((form) => form.predicate)),
        reads: onData.reduce((sum, form) => sum + form.reads, 0),
        paths: new Set(onData.flatMap((form) => [...form.paths])),
      };
      return { plain: join(open.map((part) => part.plain)), shared };
    }
    const others = open.filter((part) => !part.shared).map((part) => part.plain);
    if (onData.length === 0) return { plain: join(others) };
    const data = combine(
      open.filter((part) => part.shared),
      operator,
    );
    return { plain: join([close(data), ...others]) };
  };

  return {
    ofData: (path, filter, asOf) => {
      const isLong = path.split('.').length > EXPRESSED_KEYS_MAX;
      const value = sharedDataValue(trusted('filter_data.data'), path, isLong ? columnOf(path) : undefined);
      const shared = { predicate: jsonPredicate(value, filter, asOf), reads: 1, paths: new Set(isLong ? [path] : []) };
      if (isLong) return { plain: withDocument(shared), shared };
      return { plain: jsonPredicate(dataValue(sql`${alias}.data`, path), filter, asOf), shared };
    },
    allOf: (parts) => combine(parts, 'and'),
    anyOf: (parts) => combine(parts, 'or'),
    negated: ({ plain, shared }) => ({
      plain: sql`(${plain}) is not true`,
      ...(shared && { shared: { ...shared, predicate: sql`(${shared.predicate}) is not true` } }),
    }),
    close,
  };
}
