import { z } from 'zod';
import { parseIsoInstant } from '../../shared/pure/filters/iso-instant.ts';
import { badRequest } from '../../shared/pure/app-error.ts';

/** A moment in a cursor; only moments that PostgreSQL can read are accepted. */
export const cursorTimeSchema = z.string().refine((text) => parseIsoInstant(text) !== undefined);

/** A text in a cursor; only texts that PostgreSQL can store are accepted. */
export const cursorTextSchema = z.string().refine((text) => !text.includes('\0') && text.isWellFormed());

/** A position in a list of records from several sources. */
export const placeSchema = z.object({
  at: cursorTimeSchema,
  source: z.string().regex(/^\d$/).transform(Number),
  id: z.uuid(),
});

type Position = Record<string, string | number | Date | null>;

/** The `cursor` and `hasMore` of the answer of a list, for its schema. */
export const cursorFields = { cursor: z.string(), hasMore: z.boolean() };

/**
 * The cursors of a list: the JSON of a position in it, as base64url.
 * @param schema of its positions as texts
 */
export function cursorsOf<Place>(schema: z.ZodType<Place>) {
  return {
    /** The position that a cursor stands for. @throws AppError BAD_REQUEST when it does not come from this list */
    read(cursor: string | undefined): Place | undefined {
      return cursor === undefined ? undefined : decodeCursor(cursor, schema);
    },
    /** The `cursor` and `hasMore` of a page. @param end of the page; undefined for the last one */
    after(end: Position | undefined): { cursor: string; hasMore: boolean } {
      return { cursor: end ? encodeCursor(end) : '', hasMore: end !== undefined };
    },
  };
}

function encodeCursor(position: Position): string {
  const texts = Object.entries(position).flatMap(([name, value]) => {
    if (value === null) return [];
    return [[name, value instanceof Date ? value.toISOString() : String(value)]];
  });
  return Buffer.from(JSON.stringify(Object.fromEntries(texts))).toString('base64url');
}

function decodeCursor<Place>(cursor: string, schema: z.ZodType<Place>): Place {
  try {
    return schema.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
  } catch {
    throw badRequest('The cursor does not come from this list', { details: { field: 'cursor' } });
  }
}
