import { badRequest } from '../../pure/app-error.ts';
import type { Filter, FilterCondition, FilterGroup } from '../../pure/filters/filter-condition.ts';
import { LIMITS } from '../../pure/limits.ts';
import type { SqlFragment } from '../../database/sql.ts';
import { createFilterParts, type FilterPart, type FilterParts } from './filter-part.ts';
import {
  constantValue,
  emailOccurrences,
  eventOccurrences,
  FALSE,
  jsonPredicate,
  memberPredicate,
  occurrencePredicate,
  standardPredicate,
  topicPredicate,
  TRUE,
  trusted,
  type Subselect,
} from './filter-predicates.ts';
import { assertFilter, INLINED_FILTERS_MAX, type FilterScope } from './filter-semantics.ts';
import { filterCost } from './filter-size.ts';
import { inlinedSegment, type SegmentForFilter } from './segment-references.ts';

/**
 * The value at a dotted path of a JSON value, by the rules of the database function `everpost_field`: own keys only,
 * the longest key first, and null counts as missing.
 */
function valueAtPath(node: unknown, path: string): unknown {
  if (typeof node !== 'object' || node === null || Array.isArray(node)) return undefined;
  const whole = ownValue(node, path);
  if (whole !== undefined && whole !== null) return whole;
  const keys = path.split('.');
  for (let cut = keys.length - 1; cut > 0; cut -= 1) {
    const inner = ownValue(node, keys.slice(0, cut).join('.'));
    const found = valueAtPath(inner, keys.slice(cut).join('.'));
    if (found !== undefined) return found;
  }
  return undefined;
}

function ownValue(node: object, key: string): unknown {
  return Object.hasOwn(node, key) ? Reflect.get(node, key) : undefined;
}

export interface CompileFilterOptions {
  /** The present for every time window of the condition. */
  asOf: Date;
  projectId: string;
  /**
   * Every segment that the condition can reach, as `loadReferencedSegments` returns them. A missing one has no members.
   */
  segments?: ReadonlyMap<string, SegmentForFilter>;
  /** The alias of the contact table in the statement around the predicate; by default `c`. */
  contactAlias?: string;
  /** The context of an automation's execution. Without it `event.<path>` can only be an event name. */
  eventContext?: unknown;
  /** The name of the condition in messages; by default `condition`. */
  rootPath?: string;
}

/**
 * PostgreSQL turns a subselect under AND into a join, and one under OR into a hash table. This is faster for a few. But
 * planning hundreds of joins takes minutes, and hundreds of hash tables take all memory.
 */
const JOINED_SUBSELECTS_MAX = 8;

interface Compilation {
  alias: SqlFragment;
  parts: FilterParts;
  asOf: Date;
  projectId: string;
  segments: ReadonlyMap<string, SegmentForFilter>;
  eventContext: unknown;
  /** The segments whose conditions are being inlined around the present filter. */
  openSegments: Set<string>;
  filterCount: number;
  inlinedCost: number;
  subselectCount: number;
}

/**
 * Turns a condition into one predicate over a row of `contact`, for use after `where` or `and`. Every value of a
 * request is a bound parameter. The predicate never raises an error, whatever data contacts have; it is true, false or
 * null.
 * @throws AppError BAD_REQUEST with the path of a filter that is not valid (see `assertFilterSemantics`)
 */
export function compileFilter(condition: FilterCondition, options: CompileFilterOptions): SqlFragment {
  const alias = options.contactAlias ?? 'c';
  if (!/^[a-z_][a-z0-9_]*$/.test(alias)) throw new Error(`Not an SQL alias: ${alias}`);
  const parts = createFilterParts(trusted(alias));
  const compilation: Compilation = {
    alias: trusted(alias),
    parts,
    asOf: options.asOf,
    projectId: options.projectId,
    segments: options.segments ?? new Map(),
    eventContext: options.eventContext,
    openSegments: new Set(),
    filterCount: 0,
    inlinedCost: 0,
    subselectCount: 0,
  };
  const scope: FilterScope = 'eventContext' in options ? 'execution' : 'contact';
  return parts.close(compileCondition(condition, options.rootPath ?? 'condition', scope, compilation));
}

function compileCondition(
  condition: FilterCondition,
  path: string,
  scope: FilterScope,
  compilation: Compilation,
): FilterPart {
  const groups = condition.groups.map((group, index) =>
    compileGroup(group, `${path}.groups[${index}]`, scope, compilation),
  );
  const { allOf, anyOf } = compilation.parts;
  return condition.logic === 'AND' ? allOf(groups) : anyOf(groups);
}

function compileGroup(group: FilterGroup, path: string, scope: FilterScope, compilation: Compilation): FilterPart {
  const parts = group.filters.map((filter, index) =>
    compileSingleFilter(filter, `${path}.filters[${index}]`, scope, compilation),
  );
  if (group.conditions !== undefined) {
    parts.push(compileCondition(group.conditions, `${path}.conditions`, scope, compilation));
  }
  return compilation.parts.allOf(parts);
}

function compileSingleFilter(filter: Filter, path: string, scope: FilterScope, compilation: Compilation): FilterPart {
  const { alias, asOf, projectId } = compilation;
  compilation.filterCount += 1;
  if (compilation.filterCount > INLINED_FILTERS_MAX) {
    throw badRequest(
      `${path}: together with the segments it refers to, the condition has more than ${INLINED_FILTERS_MAX} filters`,
    );
  }
  const target = assertFilter(filter, path, scope);
  // The own filters of a stored condition were checked when it was written. The segments it refers to may have changed
  // since.
  if (compilation.openSegments.size > 0) compilation.inlinedCost += filterCost(target, filter);
  if (compilation.inlinedCost > LIMITS.inlinedFilterCost) {
    throw badRequest(`${path}: the filters of the segments it refers to cost too much to evaluate`);
  }
  switch (target.kind) {
    case 'standard':
      return { plain: standardPredicate(alias, target.field, filter, asOf), isCheap: true };
    case 'topic':
      return { plain: topicPredicate(alias, projectId, target.key, filter, nextSubselect(compilation)) };
    case 'data':
      return compilation.parts.ofData(target.path, filter, asOf);
    case 'context':
      return {
        plain: jsonPredicate(constantValue(valueAtPath(compilation.eventContext, target.path)), filter, asOf),
      };
    case 'event':
      return {
        plain: occurrencePredicate(
          eventOccurrences(alias, projectId, target.name),
          filter,
          asOf,
          nextSubselect(compilation),
        ),
      };
    case 'emailActivity':
      return {
        plain: occurrencePredicate(emailOccurrences(alias, target.activity), filter, asOf, nextSubselect(compilation)),
      };
    case 'segment': {
      const isMember = filter.operator === 'memberOfSegment';
      return compileMembership(target.segmentId, isMember, compilation);
    }
  }
}

function nextSubselect(compilation: Compilation): Subselect {
  compilation.subselectCount += 1;
  return compilation.subselectCount > JOINED_SUBSELECTS_MAX ? 'looked up' : 'joined';
}

function compileMembership(segmentId: string, isMember: boolean, compilation: Compilation): FilterPart {
  const { segments, openSegments, alias } = compilation;
  const segment = segments.get(segmentId);
  if (segment?.type === 'STATIC' || segment?.trackMembership === true) {
    return { plain: memberPredicate(alias, segmentId, isMember, nextSubselect(compilation)) };
  }
  const condition = inlinedSegment(segment);
  // Writes refuse cycles. If there is one all the same, it must not hang every evaluation.
  if (condition === undefined || openSegments.has(segmentId)) return { plain: isMember ? FALSE : TRUE };
  if (openSegments.size >= LIMITS.segmentChain) {
    throw badRequest(`segment ${segmentId}: more than ${LIMITS.segmentChain} segments refer to one another in a chain`);
  }
  openSegments.add(segmentId);
  const inside = compileCondition(condition, `segment ${segmentId}`, 'contact', compilation);
  openSegments.delete(segmentId);
  if (isMember) return inside;
  if (inside.plain === TRUE) return { plain: FALSE };
  return inside.plain === FALSE ? { plain: TRUE } : compilation.parts.negated(inside);
}
