import { Migration } from '@mikro-orm/migrations';

/**
 * Contacts by part of their address. Each address is indexed by its pieces of three characters, in an array. PostgreSQL
 * does that without an extension, so it works at every host; and the pieces begin with the project, so that the index
 * finds those of one project only.
 */
export class ConsoleMigration extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(`
      create or replace function everpost_parts(project_id uuid, value text) returns text[]
      language sql immutable strict parallel safe set search_path = pg_catalog as $$
        select coalesce(array_agg(distinct left(project_id::text, 8) || substr(value, n, 3)), '{}')
        from generate_series(1, length(value) - 2) n
      $$`);
    this.addSql('drop index concurrently if exists contact_by_part');
    this.addSql('create index concurrently contact_by_part on contact using gin (everpost_parts(project_id, email))');
  }
}
