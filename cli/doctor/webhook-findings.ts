import { query, queryOne, sql, type Em } from '../../shared/database/sql.ts';
import { number, tables, text } from '../../shared/database/tables.ts';
import { warn, type Finding } from './finding.ts';

/** Webhook endpoints whose events cross the public internet in clear. They keep working, because they are there. */
export async function httpWebhookFindings(em: Em): Promise<Finding[]> {
  const rows = await query(
    em,
    sql`
      select id, count(*) over ()::int as total from webhook_endpoint where enabled and url ilike 'http://%'
      order by id limit 3`,
    { id: tables.webhookEndpoint.id, total: number },
  );
  const [first] = rows;
  if (!first) return [];
  const names = `${rows.map(({ id }) => id).join(', ')}${first.total > rows.length ? ' and others' : ''}`;
  const text = `${first.total} ${first.total === 1 ? 'endpoint has' : 'endpoints have'} an http URL: ${names}`;
  return [
    warn('webhooks', text, 'Give them https URLs, unless they are in a network of yours: their events hold addresses.'),
  ];
}

/** Sessions whose transactions this role may not see. Erasures wait for the transactions that they see. */
export async function hiddenSessionFindings(em: Em): Promise<Finding[]> {
  const row = await queryOne(
    em,
    sql`
      select count(*)::int as count, current_user::text as role from pg_stat_activity a
      where datname = current_database() and usesysid is not null and not pg_has_role(current_user, 'pg_read_all_stats', 'usage')
        and not pg_has_role(current_user, usesysid, 'usage')`,
    { count: number, role: text },
  );
  if (!row || row.count === 0) return [];
  const problem = `${row.count} sessions belong to roles that ${row.role} may not watch: erasures do not wait for them`;
  return [warn('database roles', problem, `Run \`grant pg_read_all_stats to "${row.role}"\` in PostgreSQL.`)];
}
