import { Migration } from '@mikro-orm/migrations';

/**
 * The pieces of a long text on its way to PostgreSQL. The transaction that writes them also takes them, so nothing is lost
 * when PostgreSQL empties the table after a crash.
 */
const SQL = `
create unlogged table text_piece (
  text_id uuid not null,
  position integer not null,
  piece text not null,
  primary key (text_id, position)
);
-- The table that gets the text compresses it.
alter table text_piece alter column piece set storage external;

create function everpost_take_text(text_id_taken uuid) returns text language sql as $$
  with taken as (delete from text_piece where text_id = text_id_taken returning position, piece)
  select string_agg(piece, '' order by position) from taken;
$$;
`;

export class TextPiecesMigration extends Migration {
  override up(): void {
    this.addSql(SQL);
  }
}
