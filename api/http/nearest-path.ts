import leven from 'leven';
import type { Endpoint } from './endpoint.ts';

type Declared = Pick<Endpoint, 'path' | 'method'>;

/** The costs of differences between two paths; paths whose differences cost more than `COST_MAX` are not near. */
const COSTS = { part: 1, similar: 0.5, otherVersion: 0.5, parameter: 0.1, otherMethod: 0.2 } as const;
const COST_MAX = 2.5;
/** When more paths than these are equally near, none is named. */
const NAMED_MAX = 3;
/** Longer paths are no typing errors, and comparing them would take time. */
const PATH_LENGTH_MAX = 200;

const isVersion = (part: string): boolean => /^v\d+$/.test(part);
const isParameter = (part: string): boolean => part.startsWith(':');

/** The parts of a path. `bulk-delete`, `bulk_delete` and `bulkDelete` are one word. */
const partsOf = (path: string): string[] =>
  path.split('/').flatMap((part) => (part === '' ? [] : [part.toLowerCase().replaceAll(/[-_]/g, '')]));

/** Whether a part looks mistyped. The first letter seldom is, and comparing it first saves time. */
function isSimilar(requested: string, declared: string): boolean {
  if (declared.length < 3 || requested[0] !== declared[0]) return false;
  const max = Math.min(requested.length, declared.length) > 5 ? 2 : 1;
  return leven(requested, declared, { maxDistance: max + 1 }) <= max;
}

/** What the differences between the parts cost; Infinity when no word of the two is the same or similar. */
function costOf(requested: readonly string[], declared: readonly string[]): number {
  const left = [...requested];
  let cost = 0;
  let hasWord = false;
  const take = (matches: (part: string) => boolean, price: number): boolean => {
    const at = left.findIndex(matches);
    if (at === -1) return false;
    left.splice(at, 1);
    cost += price;
    return true;
  };
  // Parameters take what no word has taken.
  for (const own of declared.toSorted((a, b) => Number(isParameter(a)) - Number(isParameter(b)))) {
    const isFound = isParameter(own)
      ? take((part) => !isVersion(part), COSTS.parameter)
      : take((part) => part === own, 0) ||
        (isVersion(own) ? take(isVersion, COSTS.otherVersion) : take((part) => isSimilar(part, own), COSTS.similar));
    if (!isFound) cost += COSTS.part;
    else if (!isParameter(own) && !isVersion(own)) hasWord = true;
  }
  return hasWord ? cost + left.length * COSTS.part : Infinity;
}

/**
 * Creates a function that finds the paths that a request to an unknown path may have meant: `/contacts` for
 * `/v1/contacts`, `/v1/send` for `/api/v1/send`.
 * @returns a function that returns the nearest paths with their methods, such as `/contacts (GET, POST)`: all that are
 *   equally near, or none
 */
export function createNearestPaths(endpoints: readonly Declared[]): (method: string, path: string) => string[] {
  const declared = [...Map.groupBy(endpoints, ({ path }) => path)].map(([path, own]) => ({
    path,
    parts: partsOf(path),
    methods: own.map(({ method }) => method.toUpperCase()),
  }));
  return (method, path) => {
    if (path.length > PATH_LENGTH_MAX) return [];
    const requested = partsOf(path);
    const costs = declared.map(({ parts, methods }) => {
      if (Math.abs(parts.length - requested.length) > COST_MAX) return Infinity;
      const penalty = methods.includes(method === 'HEAD' ? 'GET' : method) ? 0 : COSTS.otherMethod;
      return costOf(requested, parts) + penalty;
    });
    const least = Math.min(COST_MAX, ...costs);
    const nearest = declared.filter((_, n) => costs[n] === least);
    if (nearest.length > NAMED_MAX) return [];
    return nearest.map((found) => `${found.path} (${found.methods.join(', ')})`);
  };
}
