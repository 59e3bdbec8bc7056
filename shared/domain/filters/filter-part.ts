import type { Filter } from '../../pure/filters/filter-condition.ts';
import { joinSql, sql, type SqlFragment } from '../database/sql.ts';
import { dataValue, FALSE, jsonPredicate, TRUE } from './filter-predicates.ts';
import { createSharedDocument, isLongPath, type SharedDocument } from './shared-document.ts';

/**
 * A part of a compiled condition. A part that reads only custom data has a second form, over a document that many filters
 * share. Each filter that names the column would fetch and decompress it again, which for some kilobytes of data costs
 * a hundred times as much as the filter itself.
 */
export interface FilterPart {
  /** Over the row of `contact`. */
  plain: SqlFragment;
  shared?: SharedForm;
  /** Compares columns only: it stands in front, since PostgreSQL evaluates the parts below its top level as they are written. */
  isCheap?: boolean;
}

interface SharedForm {
  predicate: (document: SharedDocument) => SqlFragment;
  /** How many filters read each path. */
  reads: ReadonlyMap<string, number>;
}

/** Up to this many filters read the column itself: containment answers them without taking a value out. */
const PLAIN_READS_MAX = 4;

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

function countOf(reads: ReadonlyMap<string, number>): number {
  return [...reads.values()].reduce((sum, count) => sum + count, 0);
}

function sumOf(all: ReadonlyMap<string, number>[]): ReadonlyMap<string, number> {
  const sum = new Map<string, number>();
  for (const reads of all) for (const [path, count] of reads) sum.set(path, (sum.get(path) ?? 0) + count);
  return sum;
}

/** @param alias of the contact table in the statement around the predicate */
export function createFilterParts(alias: SqlFragment): FilterParts {
  const withDocument = ({ predicate, reads }: SharedForm): SqlFragment => {
    const document = createSharedDocument(alias, reads);
    return document.around(predicate(document));
  };

  const close = ({ plain, shared }: FilterPart): SqlFragment => {
    if (!shared) return plain;
    const isPlain = countOf(shared.reads) <= PLAIN_READS_MAX && ![...shared.reads.keys()].some(isLongPath);
    return isPlain ? plain : withDocument(shared);
  };

  const combine = (parts: FilterPart[], operator: 'and' | 'or'): FilterPart => {
    const [neutral, absorbing] = operator === 'and' ? [TRUE, FALSE] : [FALSE, TRUE];
    if (parts.some((part) => part.plain === absorbing)) return { plain: absorbing };
    const open = parts.filter((part) => part.plain !== neutral);
    if (open.length < 2) return open[0] ?? { plain: neutral };
    const onData = open.flatMap((part) => part.shared ?? []);
    const join = (fragments: SqlFragment[]) => sql`(${joinSql(fragments, ` ${operator} `)})`;
    if (onData.length === open.length) {
      const shared: SharedForm = {
        predicate: (document) => join(onData.map((form) => form.predicate(document))),
        reads: sumOf(onData.map((form) => form.reads)),
      };
      return { plain: join(open.map((part) => part.plain)), shared };
    }
    const plainOf = (isCheap: boolean) =>
      open.flatMap((part) => (!part.shared && (part.isCheap ?? false) === isCheap ? [part.plain] : []));
    const [cheap, costly] = [plainOf(true), plainOf(false)];
    if (onData.length === 0) return { plain: join([...cheap, ...costly]), isCheap: costly.length === 0 };
    const data = combine(
      open.filter((part) => part.shared),
      operator,
    );
    return { plain: join([...cheap, close(data), ...costly]) };
  };

  return {
    ofData: (path, filter, asOf) => {
      const shared: SharedForm = {
        predicate: (document) => jsonPredicate(document.valueAt(path), filter, asOf),
        reads: new Map([[path, 1]]),
      };
      if (isLongPath(path)) return { plain: withDocument(shared), shared };
      return { plain: jsonPredicate(dataValue(sql`${alias}.data`, path), filter, asOf), shared };
    },
    allOf: (parts) => combine(parts, 'and'),
    anyOf: (parts) => combine(parts, 'or'),
    negated: ({ plain, shared }) => ({
      plain: sql`(${plain}) is not true`,
      ...(shared && {
        shared: { ...shared, predicate: (document) => sql`(${shared.predicate(document)}) is not true` },
      }),
    }),
    close,
  };
}
