import { Migration } from '@mikro-orm/migrations';

/**
 * What ended an email: the rule that judged the refusal or the report, the server that spoke, and what the verdict took
 * from the contact. Without it nobody could tell afterwards which readers a mistaken verdict has cost.
 */
const EMAIL_REFUSAL = `alter table email add column refusal jsonb;`;

export class EmailRefusalMigration extends Migration {
  override up(): void {
    this.addSql(EMAIL_REFUSAL);
  }
}
