import { Migration } from '@mikro-orm/migrations';

/** Since when a campaign that is being sent is paused. */
export class CampaignPauseMigration extends Migration {
  override up(): void {
    this.addSql('alter table campaign add column paused_at timestamptz(3)');
  }
}
