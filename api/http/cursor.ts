import { z } from 'zod';
import { parseIsoInstant } from '../../shared/pure/filters/iso-instant.ts';
import { badRequest } from '../../shared/pure/app-error.ts';

/** A moment in a cursor; only moments that PostgreSQL can read are accepted. */
export const cursorTimeSchema = z.string().refine((text) => parseIsoInstant(text) !== undefined);

/** A text in a cursor; only texts that PostgreSQL can store are accepted. */
export const cursorTextSchema = z.string().refine((text) => !text.includes('\0') && text.isWellFormed());

/** Makes an opaque cursor: the JSON of a position in a list, as base64url. */
export function encodeCursor(position: Record<string, string>): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

/** The position that a cursor stands for. @throws AppError BAD_REQUEST when the text is not a cursor of this list */
export function decodeCursor<Position>(cursor: string, schema: z.ZodType<Position>): Position {
  try {
    return schema.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
  } catch {
    throw badRequest('The cursor does not come from this list', { details: { field: 'cursor' } });
  }
}
