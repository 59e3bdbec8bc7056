import { randomBytes, randomInt } from 'node:crypto';
import { NIL, v7 as uuidV7 } from 'uuid';
import { sql } from '../../database/sql.ts';
import type { LeftElsewhere } from '../../pure/events/subscription-reasons.ts';
import type { SuppressionReason } from '../suppressions/suppressions.ts';
import type { ImportedContact } from './imported-rows.ts';

/** Who is suppressed because of what another tool knows. */
export const SUPPRESSED_FOR: Partial<Record<LeftElsewhere['because'], SuppressionReason>> = {
  bounced: 'HARD_BOUNCE',
  complained: 'COMPLAINT',
  blocked: 'MANUAL',
};

/**
 * Merges rows with the same address. A later row takes precedence in each field that it has, and in its subscription.
 */
function mergeByAddress(rows: ImportedContact[]): ImportedContact[] {
  const byEmail = new Map<string, ImportedContact>();
  for (const row of rows) {
    const earlier = byEmail.get(row.email);
    byEmail.set(row.email, earlier ? merge(earlier, row) : row);
  }
  // Every statement that writes contacts locks them in this order, so that statements cannot deadlock.
  return [...byEmail.values()].sort((left, right) => (left.email < right.email ? -1 : 1));
}

function merge(earlier: ImportedContact, later: ImportedContact): ImportedContact {
  return {
    ...later,
    subscribed: later.subscribed ?? earlier.subscribed,
    hasLeft: later.hasLeft ?? earlier.hasLeft,
    topics: { ...earlier.topics, ...later.topics },
    trackingAllowed: later.trackingAllowed ?? earlier.trackingAllowed,
    // Who is suppressed stays so, whatever else is known of them.
    left: earlier.left && SUPPRESSED_FOR[earlier.left.because] ? earlier.left : (later.left ?? earlier.left),
    restored: later.restored ?? earlier.restored,
    removed: [...(earlier.removed ?? []), ...(later.removed ?? [])],
    data: mergeData(without(earlier.data, later.removed), later.data),
  };
}

function mergeData(earlier: string, later: string): string {
  if (earlier === '{}') return later;
  // When a key occurs twice in a text, jsonb keeps the last value.
  return later === '{}' ? earlier : `${earlier.slice(0, -1)},${later.slice(1)}`;
}

/** A JSON object without some of its keys. */
function without(data: string, keys: readonly string[] = []): string {
  if (keys.length === 0) return data;
  const entries = Object.entries(JSON.parse(data) as object);
  return JSON.stringify(Object.fromEntries(entries.filter(([key]) => !keys.includes(key))));
}

/** Rows that are prepared for PostgreSQL. */
export interface ContactBatch {
  rows: ImportedContact[];
  /** The addresses whose rows say more than a subscription and data: topics, tracking, or why somebody left. */
  choices: Map<string, ImportedContact>;
  /** The keys of the data that are deleted, by address. */
  removed: Record<string, string[]>;
  /** A text for each of `BATCH_COLUMNS`, with one line for each address. */
  lines: string[];
  /** The ids of the first and the last address; those of all others are between them, and no others are. */
  first: string;
  last: string;
}

export const BATCH_COLUMNS = sql`(id, email, subscribed, "left", data)`;

const UUID_BYTES = 16;
/** Where the counters of ids begin, so that imports of the same moment do not use the same ones. */
const SEQ_START_MAX = 2 ** 29;

/**
 * Prepares rows for `importContacts`. It needs no transaction, so it can run while another batch is stored. Lines take
 * PostgreSQL half the time of JSON; no address, and no JSON text, has a line end in it. One call for all random numbers
 * takes a twentieth of the time of a call for each id.
 */
export function createContactBatch(rows: ImportedContact[]): ContactBatch {
  const merged = mergeByAddress(rows);
  const random = randomBytes(merged.length * UUID_BYTES);
  const msecs = Date.now();
  const start = randomInt(SEQ_START_MAX);
  const ids = merged.map((_, index) => {
    const bytes = random.subarray(index * UUID_BYTES, (index + 1) * UUID_BYTES);
    return uuidV7({ msecs, seq: start + index, random: bytes });
  });
  const choosing = merged.filter(({ topics, trackingAllowed, left, restored }) =>
    [topics, trackingAllowed, left, restored].some((said) => said !== undefined),
  );
  return {
    rows,
    choices: new Map(choosing.map((row) => [row.email, row])),
    removed: Object.fromEntries(merged.flatMap(({ email, removed }) => (removed?.length ? [[email, removed]] : []))),
    lines: [
      ids,
      merged.map(({ email }) => email),
      merged.map(({ subscribed }) => subscribed),
      merged.map(({ hasLeft }) => hasLeft),
      merged.map(({ data }) => data),
    ].map((values) => values.join('\n')),
    first: ids[0] ?? NIL,
    last: ids.at(-1) ?? NIL,
  };
}
