import { sql, SqlFragment, type Em } from '../../shared/database/sql.ts';
import { query } from './rows.ts';

/** Records the changes of status in a table. @returns a function that lists them, as `PENDING → SENT` */
export async function watchStatuses(em: () => Em, table: string): Promise<() => Promise<string[]>> {
  const statements = `
    create table seen_transition (taken text primary key);
    create function note_transition() returns trigger language plpgsql as $$
    begin
      insert into seen_transition values (old.status || ' → ' || new.status) on conflict do nothing;
      return null;
    end $$;
    create trigger note_transition after update on ${table} for each row
      when (old.status is distinct from new.status) execute function note_transition()`;
  await query(em(), new SqlFragment(statements));
  return async () => {
    const rows = await query(em(), sql`select taken from seen_transition`);
    return rows.map((row) => row.taken).sort();
  };
}

/** A table of transitions in the form of `watchStatuses`. */
export function listTransitions(transitions: Record<string, readonly string[]>): string[] {
  return Object.entries(transitions)
    .flatMap(([from, tos]) => tos.map((to) => `${from} → ${to}`))
    .sort();
}
