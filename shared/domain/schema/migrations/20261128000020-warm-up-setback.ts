import { Migration } from '@mikro-orm/migrations';

/** Whether a day of a warm-up was repeated or a step back was taken, beside the words that say why. */
export class WarmUpSetbackMigration extends Migration {
  override up(): void {
    this.addSql('alter table warm_up add column if not exists setback text');
    this.addSql(
      `update warm_up set setback = case when reason like 'One step back%' then 'stepped back' else 'repeated' end
      where reason is not null`,
    );
  }
}
