import { sql } from '../../database/sql.ts';

/** The brand of a row `p` of the table project, as JSON. */
export const BRAND = sql`
  json_build_object('name', coalesce(p.display_name, p.name), 'displayName', p.display_name,
    'postalAddress', p.postal_address, 'logoUrl', p.logo_url, 'language', p.language)`;
