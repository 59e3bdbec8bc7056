import { z } from 'zod';
import { parseIsoInstant } from '../../shared/pure/filters/iso-instant.ts';
import { badRequest } from '../../shared/pure/app-error.ts';

/** A moment in a cursor; only what PostgreSQL can read is accepted. */
export const cursorTimeSchema = z.string().refine((text) => parseIsoInstant(text) !== undefined);

/** A text in a cursor. */
export const cursorTextSchema = z.string().refine((text) => !text.includes('\0') && text.isWellFormed());

/** An opaque cursor: the JSON of a place in a list, base64url. */
export function encodeCursor(place: Record<string, string>): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

/** @throws AppError BAD_REQUEST when the text is not a cursor of this list */
export function decodeCursor<Place>(cursor: string, schema: z.ZodType<Place>): Place {
  try {
    return schema.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
  } catch {
    throw badRequest('The cursor does not come from this list', { details: { field: 'cursor' } });
  }
}
