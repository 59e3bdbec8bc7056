import { Migration } from '@mikro-orm/migrations';

/** The Temporal namespace that works on this database: at most one row. */
const KNOWN_NAMESPACE = `
create table known_namespace (
  is_only boolean primary key default true check (is_only),
  namespace_id text not null,
  name text not null,
  address text not null,
  adopted_at timestamptz(3) not null default now()
);
`;

export class KnownNamespaceMigration extends Migration {
  override up(): void {
    this.addSql(KNOWN_NAMESPACE);
  }
}
