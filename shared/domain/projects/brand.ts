import { sql } from '../../database/sql.ts';
import type { Brand } from '../../pure/brand.ts';
import type { Project } from './project.entity.ts';

/** The brand of a row `p` of the table project, as JSON. */
export const BRAND = sql`
  json_build_object('name', coalesce(p.display_name, p.name), 'displayName', p.display_name,
    'postalAddress', p.postal_address, 'logoUrl', p.logo_url, 'brandColor', p.brand_color,
    'language', p.language)`;

/** The settings behind the brand of a project; null where none is set. */
export function brandOf(project: Project): Omit<Brand, 'name'> {
  const { displayName = null, postalAddress = null, logoUrl = null, brandColor = null, language = null } = project;
  return { displayName, postalAddress, logoUrl, brandColor, language };
}
