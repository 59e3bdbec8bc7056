import { Migration } from '@mikro-orm/migrations';

/** Requests with the public key are counted apart; `used` counts those with the secret key. */
const RATE_WINDOW = `
alter table rate_window add column public_used int not null default 0;
`;

export class PublicRateMigration extends Migration {
  override up(): void {
    this.addSql(RATE_WINDOW);
  }
}
