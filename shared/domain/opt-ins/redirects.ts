import { validationError } from '../../pure/app-error.ts';
import { queryOne, sql, type Em } from '../../database/sql.ts';
import { boolean, tables } from '../../database/tables.ts';
import { settingsOf } from './opt-in.ts';

/**
 * Checks that a form may lead to a URL: to a verified sender domain of the project, to a host below one, or to one of
 * its `redirectHosts`. Everybody has the public key, so any other target would be an open redirect (CWE-601).
 * @param url an http or https URL
 * @throws AppError VALIDATION_ERROR
 */
export async function assertTrustedRedirect(em: Em, projectId: string, url: string): Promise<void> {
  const { host, hostname, username, password } = new URL(url);
  const row = await queryOne(
    em,
    sql`
      select p.double_opt_in as settings, exists (
        select from sender_domain d where d.project_id = p.id and d.verified
          and (d.domain = ${hostname} or right(${hostname}, length(d.domain) + 1) = '.' || d.domain)
      ) as "isOwn"
      from project p where p.id = ${projectId}`,
    { settings: tables.project.doubleOptIn, isOwn: boolean },
  );
  const { redirectHosts } = settingsOf(row?.settings ?? null);
  const isTrusted = row?.isOwn === true || redirectHosts.includes(host) || redirectHosts.includes(hostname);
  if (isTrusted && username === '' && password === '') return;
  throw validationError([
    {
      field: 'redirectUrl',
      message: `The host ${host} is no verified sender domain of this project, and not in doubleOptIn.redirectHosts`,
      code: 'untrusted_host',
    },
  ]);
}
