import { Migration } from '@mikro-orm/migrations';
import { AUTOMATION_TABLES_SQL, FAN_OUT_SQL } from '../automations/automation-tables.sql.ts';

/** Automations and their executions; webhook secrets; which execution a mail comes from. */
export class AutomationsMigration extends Migration {
  override up(): void {
    this.addSql(AUTOMATION_TABLES_SQL);
    this.addSql(FAN_OUT_SQL);
  }
}
