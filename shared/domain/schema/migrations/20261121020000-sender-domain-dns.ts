import { Migration } from '@mikro-orm/migrations';

/** What the verification of sender domains in DNS needs. Until now every verified domain was one that is trusted. */
export class SenderDomainDnsMigration extends Migration {
  override up(): void {
    this.addSql(`
      alter table sender_domain
        add column trusted boolean not null default false,
        add column dns_verified boolean not null default false,
        add column return_path boolean not null default false,
        add column failed_checks smallint not null default 0,
        add column unanswered_checks smallint not null default 0,
        add column next_check_at timestamptz(3) not null default now(),
        add column records_found text[] not null default '{}',
        add column dkim_selector text,
        add column dkim_public_key text,
        add column dkim_private_key bytea;
      update sender_domain set trusted = verified;
      alter table sender_domain
        add check (verified = (trusted or dns_verified)),
        add check (num_nulls(dkim_selector, dkim_public_key, dkim_private_key) in (0, 3)),
        add check (not dns_verified or dkim_selector is not null);
      create index sender_domain_by_next_check on sender_domain (next_check_at);
    `);
  }
}
