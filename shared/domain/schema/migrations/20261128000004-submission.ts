import { Migration } from '@mikro-orm/migrations';

/**
 * Makes the pieces of an address, which each new contact gets, at half the cost. Their order, and whether one comes twice,
 * makes no difference to the index.
 */
export class FasterPartsMigration extends Migration {
  override up(): void {
    this.addSql(`
      create or replace function everpost_parts(project_id uuid, value text) returns text[]
      language plpgsql immutable strict parallel safe as $$
      declare
        project text := left(project_id::text, 8);
        parts text[] := '{}';
      begin
        for n in 1 .. length(value) - 2 loop
          parts[n] := project || substr(value, n, 3);
        end loop;
        return parts;
      end
      $$`);
  }
}
