import { Migration } from '@mikro-orm/migrations';

/** A project may limit what the public key, which every visitor has, changes. Null allows all that it can do. */
export class PublicKeyRulesMigration extends Migration {
  override up(): void {
    this.addSql('alter table project add column public_key_rules jsonb');
  }
}
