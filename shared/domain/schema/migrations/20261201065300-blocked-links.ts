import { Migration } from '@mikro-orm/migrations';

/** Links in emails that lead nowhere any longer, by the host that they lead to or the id of the project. */
export class BlockedLinksMigration extends Migration {
  override up(): void {
    this.addSql(`
      create table blocked_link (
        subject text primary key,
        created_at timestamptz(3) not null default now()
      )`);
  }
}
