import { Migration } from '@mikro-orm/migrations';

/** An attempt that follows a lost one finds the emails that had joined its delivery. */
const SQL = `
create index email_of_delivery on email (delivery_id) where delivery_id is not null and delivery_due_at is not null;
`;

export class EmailsOfDeliveriesMigration extends Migration {
  override up(): void {
    this.addSql(SQL);
  }
}
