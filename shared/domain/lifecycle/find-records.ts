import { likePattern, query, sql, type SqlFragment, type Em } from '../../database/sql.ts';
import { nullable, text } from '../../database/tables.ts';
import { hasPart } from '../contacts/contact-list.ts';

export const FOUND_KINDS = [
  ...(['contact', 'email', 'campaign', 'automation', 'execution', 'template', 'segment', 'webhook'] as const),
];
export type FoundKind = (typeof FOUND_KINDS)[number];

const FOUND = { kind: text, id: text, parentId: nullable(text), title: text, hint: nullable(text) };

const CONTACTS_MAX = 8;
const NAMED_MAX = 4;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** What is shown of a record: its table as `r`, its title and a hint. */
const SHOWN: Record<FoundKind, { table: SqlFragment; title: SqlFragment; hint: SqlFragment; parent?: SqlFragment }> = {
  contact: { table: sql`contact r`, title: sql`r.email`, hint: sql`null` },
  email: { table: sql`email r`, title: sql`coalesce(r.subject, r.to_address, 'Email')`, hint: sql`r.to_address` },
  campaign: { table: sql`campaign r`, title: sql`r.name`, hint: sql`null` },
  automation: { table: sql`automation r`, title: sql`r.name`, hint: sql`null` },
  execution: {
    table: sql`automation_execution r`,
    title: sql`(select 'Execution of ' || a.name from automation a where a.id = r.automation_id)`,
    hint: sql`lower(r.status)`,
    parent: sql`r.automation_id`,
  },
  template: { table: sql`template r`, title: sql`r.name`, hint: sql`null` },
  segment: { table: sql`segment r`, title: sql`r.name`, hint: sql`null` },
  webhook: { table: sql`webhook_endpoint r`, title: sql`r.url`, hint: sql`null` },
};
const NAMED: readonly FoundKind[] = ['campaign', 'automation', 'template', 'segment', 'webhook'];

function select(kind: FoundKind, where: SqlFragment): SqlFragment {
  const { table, title, hint, parent = sql`null` } = SHOWN[kind];
  return sql`
    select ${kind}::text as kind, r.id::text as id, ${parent}::text as "parentId", left(coalesce(${title}, ''), 200) as title,
      left(${hint}, 200) as hint
    from ${table} where ${where}`;
}

/**
 * Finds records by their id, or else contacts by part of their address or name, and others by part of their name.
 * @param kinds that may be found
 */
export async function findRecords(em: Em, projectId: string, kinds: readonly FoundKind[], wanted: string) {
  const isId = UUID.test(wanted);
  const found: SqlFragment[] = [];
  for (const kind of kinds) {
    if (isId) found.push(select(kind, sql`r.id = ${wanted} and r.project_id = ${projectId}`));
    else if (kind === 'contact') {
      const near = sql`r.id in (select id from contact where project_id = ${projectId} and ${hasPart(projectId, wanted)} order by email limit ${CONTACTS_MAX})`;
      found.push(select(kind, near));
    } else if (NAMED.includes(kind)) {
      const { title } = SHOWN[kind];
      const named = sql`r.project_id = ${projectId} and ${title} ilike ${likePattern(wanted)}`;
      found.push(sql`(${select(kind, named)} order by r.created_at desc limit ${NAMED_MAX})`);
    }
  }
  const rows = await Promise.all(found.map((one) => query(em, one, FOUND)));
  return rows.flat();
}
