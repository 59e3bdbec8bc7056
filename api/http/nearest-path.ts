import leven from 'leven';
import type { Endpoint } from './endpoint.ts';

type Declared = Pick<Endpoint, 'path' | 'method'>;

/** The costs of differences between two paths; paths whose differences cost more than `COST_MAX` are not near. */
const COSTS = { leftOut: 1, missing: 1, similar: 0.5, otherVersion: 0.5, parameter: 0.1, otherMethod: 0.2 } as const;
const COST_MAX = 2.5;
/** When more paths than these are equally near, none is named. */
const NAMED_MAX = 3;
/** Longer paths are no typing errors, and comparing them would take time. */
const PATH_LENGTH_MAX = 200;

const VERSION = /^v\d+$/;

const partsOf = (path: string): string[] => path.split('/').filter((part) => part !== '');

/** `bulk-delete`, `bulk_delete` and `bulkDelete` are one word. */
const wordOf = (part: string): string => part.toLowerCase().replaceAll(/[-_]/g, '');

/** Whether a part looks mistyped. The first letter seldom is, and comparing it first saves time. */
function isSimilar(requested: string, declared: string): boolean {
  if (declared.length < 3 || requested[0] !== declared[0]) return false;
  const max = Math.min(requested.length, declared.length) > 5 ? 2 : 1;
  return leven(requested, declared, { maxDistance: max + 1 }) <= max;
}

/** The cost of taking a part of a request for a part of a declared path; undefined when it cannot be meant. */
function costOfPart(requested: string, declared: string): number | undefined {
  if (declared.startsWith(':')) return COSTS.parameter;
  const [own, other] = [wordOf(declared), wordOf(requested)];
  if (own === other) return 0;
  if (VERSION.test(own)) return VERSION.test(other) ? COSTS.otherVersion : undefined;
  return isSimilar(other, own) ? COSTS.similar : undefined;
}

interface Alignment {
  cost: number;
  /** Whether a part fits that is neither a version nor an id. */
  hasWord: boolean;
}

const better = (left: Alignment, right: Alignment): Alignment => (right.cost < left.cost ? right : left);

/** Finds the cheapest alignment of a requested path and a declared one, part by part (edit distance). */
function align(requested: string[], declared: string[], costOf: typeof costOfPart): Alignment {
  let above = Array.from({ length: declared.length + 1 }, (_, n) => ({ cost: n * COSTS.missing, hasWord: false }));
  for (const part of requested) {
    let [left] = above as [Alignment];
    left = { ...left, cost: left.cost + COSTS.leftOut };
    const row = [left];
    for (const [n, own] of declared.entries()) {
      const [diagonal, upper] = above.slice(n) as [Alignment, Alignment];
      left = better({ ...left, cost: left.cost + COSTS.missing }, { ...upper, cost: upper.cost + COSTS.leftOut });
      const cost = costOf(part, own);
      if (cost !== undefined) {
        const isWord = cost !== COSTS.parameter && !VERSION.test(own);
        left = better(left, { cost: diagonal.cost + cost, hasWord: diagonal.hasWord || isWord });
      }
      row.push(left);
    }
    above = row;
  }
  return above[declared.length] as Alignment;
}

/** A `costOfPart` that compares each pair of parts once, however many endpoints have the part. */
function rememberCosts(): typeof costOfPart {
  const known = new Map<string, number | undefined>();
  return (requested, declared) => {
    const key = `${requested}/${declared}`;
    if (!known.has(key)) known.set(key, costOfPart(requested, declared));
    return known.get(key);
  };
}

interface DeclaredPath {
  path: string;
  parts: string[];
  methods: string[];
}

function pathsOf(endpoints: readonly Declared[]): DeclaredPath[] {
  const paths = new Map<string, DeclaredPath>();
  for (const { path, method } of endpoints) {
    const known = paths.get(path) ?? { path, parts: partsOf(path), methods: [] };
    known.methods.push(method.toUpperCase());
    paths.set(path, known);
  }
  return [...paths.values()];
}

/**
 * Creates a function that finds the paths that a request to an unknown path may have meant: `/contacts` for
 * `/v1/contacts`, `/v1/send` for `/api/v1/send`.
 * @returns a function that returns the nearest paths with their methods, such as `/contacts (GET, POST)`: all that are
 *   equally near, or none
 */
export function createNearestPaths(endpoints: readonly Declared[]): (method: string, path: string) => string[] {
  const declared = pathsOf(endpoints);
  return (method, path) => {
    if (path.length > PATH_LENGTH_MAX) return [];
    const requested = partsOf(path);
    const costOf = rememberCosts();
    const costs = declared.map(({ parts, methods }) => {
      if (Math.abs(parts.length - requested.length) > COST_MAX) return Infinity;
      const { cost, hasWord } = align(requested, parts, costOf);
      const penalty = methods.includes(method === 'HEAD' ? 'GET' : method) ? 0 : COSTS.otherMethod;
      return hasWord ? cost + penalty : Infinity;
    });
    const least = Math.min(COST_MAX, ...costs);
    const nearest = declared.filter((_, n) => costs[n] === least);
    if (nearest.length > NAMED_MAX) return [];
    return nearest.map((found) => `${found.path} (${found.methods.join(', ')})`);
  };
}
