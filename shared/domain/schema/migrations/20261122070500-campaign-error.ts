import { Migration } from '@mikro-orm/migrations';

/** Why a campaign could not go on. */
export class CampaignErrorMigration extends Migration {
  override up(): void {
    this.addSql('alter table campaign add column error text');
  }
}
