import { LIMITS } from '../pure/limits.ts';
import { query, sql, type Em } from './sql.ts';
import { number, text } from './shape.ts';

/** The size of a record's bodies. PostgreSQL knows the length of a text without reading the text. */
const BYTES = sql`octet_length(body) + coalesce(octet_length(body_text), 0)`;
const SIZES = {
  template: sql`select id, ${BYTES} as bytes from template where project_id = `,
  campaign: sql`select id, ${BYTES} as bytes from campaign where project_id = `,
};

/** A page of records that may have megabytes each. */
export interface RecordPage<Item> {
  total: number;
  /** Whether all records of the page together stay within `LIMITS.pageBytes`. */
  isSmall: boolean;
  /** The records in their order, in parts that each stay within `LIMITS.pageBytes`, or have one record. */
  parts: AsyncIterable<Item[]>;
}

/** Splits ids, in their order, where the records would exceed the limit. */
function splitBySize(ids: string[], bytesOf: ReadonlyMap<string, number>): string[][] {
  const parts: string[][] = [];
  let bytes = Infinity;
  for (const id of ids) {
    bytes += bytesOf.get(id) ?? 0;
    if (bytes > LIMITS.pageBytes) {
      parts.push([]);
      bytes = bytesOf.get(id) ?? 0;
    }
    parts.at(-1)?.push(id);
  }
  return parts;
}

/**
 * A page of large records, from the ids of its records. The records are read part by part, when they are asked for.
 * @param load reads records by their ids, in any order
 */
export async function recordPage<Item extends { id: string }>(
  em: Em,
  { table, projectId, ids, total }: { table: keyof typeof SIZES; projectId: string; ids: string[]; total: number },
  load: (em: Em, ids: string[]) => Promise<Item[]>,
): Promise<RecordPage<Item>> {
  const sizes = await query(em, sql`${SIZES[table]}${projectId} and id = any(${ids}::uuid[])`, {
    id: text,
    bytes: number,
  });
  const parts = splitBySize(ids, new Map(sizes.map(({ id, bytes }) => [id, bytes])));
  return {
    total,
    isSmall: parts.length <= 1,
    parts: (async function* () {
      for (const part of parts) {
        const byId = new Map((await load(em.fork(), part)).map((item) => [item.id, item]));
        yield part.flatMap((id) => byId.get(id) ?? []);
      }
    })(),
  };
}
