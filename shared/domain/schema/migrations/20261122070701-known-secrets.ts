import { Migration } from '@mikro-orm/migrations';

/** Which values of APP_SECRET this database has been used with, each by an id that tells nothing of it. */
const KNOWN_SECRETS = `
create table known_secret (
  secret_id text primary key,
  created_at timestamptz(3) not null default now()
);
`;

export class KnownSecretsMigration extends Migration {
  override up(): void {
    this.addSql(KNOWN_SECRETS);
  }
}
