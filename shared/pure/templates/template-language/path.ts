import { LIMITS } from '../../limits.ts';

/**
 * A dotted path, split once. `rests[i]` is the path from segment i to its end, as written: the key to try when a
 * stored key itself contains dots.
 */
export interface Path {
  segments: readonly string[];
  rests: readonly string[];
}

const UNSAFE_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Splits a path at its dots, and trims the segments. Returns undefined for a path that never resolves: one with an
 * empty segment, a name that leads to a prototype, or too many segments.
 */
export function parsePath(source: string): Path | undefined {
  // One segment above the limit is enough to refuse the path, however long it is.
  const written = source.split('.', LIMITS.templatePathKeys + 1);
  if (written.length > LIMITS.templatePathKeys) return undefined;
  const segments: string[] = [];
  const rests: string[] = [];
  let offset = 0;
  for (const part of written) {
    const segment = part.trim();
    if (segment === '' || UNSAFE_NAMES.has(segment)) return undefined;
    segments.push(segment);
    rests.push(source.slice(offset).trim());
    offset += part.length + 1;
  }
  return { segments, rests };
}

/** Follows a path from its segment `from` on, through own properties only. Undefined or null if there is no value. */
export function descend(value: unknown, path: Path, from: number): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  const last = path.segments.length - 1;
  const next = ownValue(value, path.segments[from] as string);
  if (from === last) return next;
  return descend(next, path, from + 1) ?? ownValue(value, path.rests[from] as string);
}

function ownValue(holder: object, key: string): unknown {
  return Object.hasOwn(holder, key) ? (holder as Record<string, unknown>)[key] : undefined;
}

/** Whether a key of data may be read: it does not lead to a prototype. */
export function isSafeName(name: string): boolean {
  return !UNSAFE_NAMES.has(name);
}
