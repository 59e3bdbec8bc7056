import { Migration } from '@mikro-orm/migrations';

/**
 * Which project takes the answers to a reply address. Whoever asked for answers there first keeps it; rows for
 * addresses at domains that are not ours are never looked at.
 */
const REPLY_ADDRESSES = `
create table reply_address (
  address text primary key,
  project_id uuid not null references project on delete cascade,
  created_at timestamptz(3) not null default now()
);
create index reply_address_by_project on reply_address (project_id);

insert into reply_address (address, project_id, created_at)
select distinct on (address) address, project_id, created_at from (
  select lower(reply_to) as address, project_id, created_at from template where reply_to is not null
  union all
  select lower(reply_to), project_id, created_at from campaign where reply_to is not null
  union all
  select lower(c.reply_to), e.project_id, e.created_at
  from email_content c join email e on e.id = c.email_id where c.reply_to is not null
) used
where exists (select from project p where p.id = used.project_id)
order by address, created_at, project_id;

create index template_by_reply_to on template (lower(reply_to)) where reply_to is not null;
create index campaign_by_reply_to on campaign (lower(reply_to)) where reply_to is not null;
drop index email_content_by_reply_to;
`;

export class ReplyAddressesMigration extends Migration {
  override up(): void {
    this.addSql(REPLY_ADDRESSES);
  }
}
