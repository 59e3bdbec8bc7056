import { uuidV7 } from '../platform/uuid.ts';
import { textPieces } from '../pure/text-pieces.ts';
import { query, sql, type SqlFragment, type Em } from './sql.ts';

/** The driver copies a parameter several times, in one turn of the event loop. That takes long with a longer text. */
const PARAMETER_LENGTH_MAX = 1_048_576;

/**
 * A text as a value for one statement of the transaction `tx`. A long text goes to PostgreSQL before it, piece by piece,
 * so that other work of the event loop runs in between.
 */
export async function textValue(tx: Em, text: string): Promise<SqlFragment> {
  if (text.length <= PARAMETER_LENGTH_MAX) return sql`${text}::text`;
  const id = uuidV7();
  let position = 0;
  for (const piece of textPieces(text)) {
    await query(tx, sql`insert into text_piece (text_id, position, piece) values (${id}, ${position++}, ${piece})`);
  }
  return sql`everpost_take_text(${id})`;
}
