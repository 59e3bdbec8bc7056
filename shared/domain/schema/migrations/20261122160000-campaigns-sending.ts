import { Migration } from '@mikro-orm/migrations';

/** The few campaigns that are being sent, which metrics ask for every few seconds. */
const CAMPAIGNS = `
create index campaign_sending on campaign (id) where status = 'SENDING';
`;

export class CampaignsSendingMigration extends Migration {
  override up(): void {
    this.addSql(CAMPAIGNS);
  }
}
