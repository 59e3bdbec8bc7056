import { Migration } from '@mikro-orm/migrations';

/**
 * Drops the index of addresses by their pieces of three characters: it made a new contact cost twice as much, and was
 * larger than the table. The function `everpost_parts` stays for processes of the version before, which filter by it.
 */
export class NoPartsOfAddressesMigration extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql('drop index concurrently if exists contact_by_part');
  }
}
