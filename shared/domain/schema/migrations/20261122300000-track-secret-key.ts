import { Migration } from '@mikro-orm/migrations';

/** Libraries that hold one key call POST /v1/track with the secret one; a project may accept that. */
export class TrackSecretKeyMigration extends Migration {
  override up(): void {
    this.addSql('alter table project add column track_accepts_secret_key boolean not null default false');
  }
}
