import type { Filter } from '../../pure/filters/filter-condition.ts';
import { joinSql, sql, type SqlFragment } from '../../database/sql.ts';
import { dataValue, FALSE, jsonPredicate, TRUE } from './filter-predicates.ts';
import { createSharedDocument, isLongPath, type SharedDocument } from './shared-document.ts';

/**
 * A part of a compiled condition. A part that reads only custom data has a second form, over a document that many
 * filters share. Otherwise each filter fetches and decompresses the column again, which for some kilobytes of data
 * costs a hundred times as much as the filter itself.
 */
export interface FilterPart {
  /** The predicate over the row of `contact`. */
  plain: SqlFragment;
  shared?: SharedForm;
  /**
   * Whether the part compares columns only. Such parts come first: PostgreSQL evaluates nested parts in written order.
   */
  isCheap?: boolean;
}

interface SharedForm {
  predicate: (document: SharedDocument) => SqlFragment;
  /** The number of filters that read each path. */
  reads: ReadonlyMap<string, number>;
}

/** So few filters read the column itself: they can use containment, which extracts no value. */
const PLAIN_READS_MAX = 4;

function countOf(reads: ReadonlyMap<string, number>): number {
  return [...reads.values()].reduce((sum, count) => sum + count, 0);
}

function sumOf(all: ReadonlyMap<string, number>[]): ReadonlyMap<string, number> {
  const sum = new Map<string, number>();
  for (const reads of all) for (const [path, count] of reads) sum.set(path, (sum.get(path) ?? 0) + count);
  return sum;
}

/**
 * Creates the builder of parts for one condition.
 * @param alias the alias of the contact table in the statement around the predicate
 */
export function createFilterParts(alias: SqlFragment) {
  const withDocument = ({ predicate, reads }: SharedForm): SqlFragment => {
    const document = createSharedDocument(alias, reads);
    return document.around(predicate(document));
  };

  /** The predicate for the statement: the plain or the shared form, whichever costs less. */
  const close = ({ plain, shared }: FilterPart): SqlFragment => {
    if (!shared) return plain;
    const isPlain = countOf(shared.reads) <= PLAIN_READS_MAX && ![...shared.reads.keys()].some(isLongPath);
    return isPlain ? plain : withDocument(shared);
  };

  const combine = (parts: FilterPart[], operator: 'and' | 'or'): FilterPart => {
    const [neutral, absorbing] = operator === 'and' ? [TRUE, FALSE] : [FALSE, TRUE];
    if (parts.some((part) => part.plain === absorbing)) return { plain: absorbing };
    const undecided = parts.filter((part) => part.plain !== neutral);
    if (undecided.length < 2) return undecided[0] ?? { plain: neutral };
    const onData = undecided.flatMap((part) => part.shared ?? []);
    const join = (fragments: SqlFragment[]) => sql`(${joinSql(fragments, ` ${operator} `)})`;
    if (onData.length === undecided.length) {
      const shared: SharedForm = {
        predicate: (document) => join(onData.map((form) => form.predicate(document))),
        reads: sumOf(onData.map((form) => form.reads)),
      };
      return { plain: join(undecided.map((part) => part.plain)), shared };
    }
    const plainOf = (isCheap: boolean) =>
      undecided.filter((part) => !part.shared && (part.isCheap ?? false) === isCheap).map((part) => part.plain);
    const [cheap, costly] = [plainOf(true), plainOf(false)];
    if (onData.length === 0) return { plain: join([...cheap, ...costly]), isCheap: costly.length === 0 };
    const data = combine(
      undecided.filter((part) => part.shared),
      operator,
    );
    return { plain: join([...cheap, close(data), ...costly]) };
  };

  return {
    /** The part for a filter on custom data. */
    ofData: (path: string, filter: Filter, asOf: Date): FilterPart => {
      const shared: SharedForm = {
        predicate: (document) => jsonPredicate(document.valueAt(path), filter, asOf),
        reads: new Map([[path, 1]]),
      };
      if (isLongPath(path)) return { plain: withDocument(shared), shared };
      return { plain: jsonPredicate(dataValue(sql`${alias}.data`, path), filter, asOf), shared };
    },
    allOf: (parts: FilterPart[]): FilterPart => combine(parts, 'and'),
    anyOf: (parts: FilterPart[]): FilterPart => combine(parts, 'or'),
    /** A part that is true wherever `part` is false or null. */
    negated: ({ plain, shared }: FilterPart): FilterPart => ({
      plain: sql`(${plain}) is not true`,
      ...(shared && {
        shared: { ...shared, predicate: (document) => sql`(${shared.predicate(document)}) is not true` },
      }),
    }),
    close,
  };
}

/** Builds and combines the parts of one condition. */
export type FilterParts = ReturnType<typeof createFilterParts>;
