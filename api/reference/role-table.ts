import { KEY_ROLES } from '../../shared/pure/key-roles.ts';
import { rolesOf, type Endpoint } from '../http/endpoint.ts';

/** The section that is nothing but the table. */
const HEADING = '## Which role may call what\n';

/** Markdown with a row for each endpoint that says which roles may call it, in the order of their paths. */
function roleTable(endpoints: readonly Endpoint[]): string {
  const rows = endpoints.map((definition) => {
    const roles = rolesOf(definition);
    const cells = KEY_ROLES.map((role) => (roles.includes(role) ? '✓' : ' '));
    return `| \`${definition.method.toUpperCase()} ${definition.path}\` | ${cells.join(' | ')} |`;
  });
  const head = `| call | ${KEY_ROLES.map((role) => `\`${role}\``).join(' | ')} |`;
  return [head, `|---|${KEY_ROLES.map(() => ':-:|').join('')}`, ...rows].join('\n');
}

/** A page whose section with the table of roles is written again from the declared endpoints. */
export function withRoleTable(page: string, endpoints: readonly Endpoint[]): string {
  const start = page.indexOf(HEADING) + HEADING.length;
  const end = page.indexOf('\n## ', start);
  return `${page.slice(0, start)}\n${roleTable(endpoints)}\n${end === -1 ? '' : page.slice(end)}`;
}
