import { sql, type Em } from '../../shared/database/sql.ts';
import { advanceOptIn } from '../../shared/domain/opt-ins/advance.ts';
import { createEmailCompiler } from '../../shared/sending/compose/compiled-email.ts';
import { linkSignerOf } from '../../shared/sending/compose/links.ts';
import type { OptInOutcome } from '../../shared/pure/workflow-contracts.ts';
import type { TestApi, TestProject, TestReply } from './api.ts';
import { query } from './rows.ts';

const DAY_MS = 24 * 60 * 60_000;

/** Asks for newsletters, as a form with the public key does. */
export function subscribe({ api }: Pick<TestProject, 'api'>, body: object, key = 'public'): Promise<TestReply> {
  return api('POST', '/v1/subscribe', { key, body });
}

/** Sends a plain HTML form. */
export async function postForm(
  url: string,
  fields: Record<string, string | string[]>,
): Promise<{ status: number; headers: Headers; html: string }> {
  const body = new URLSearchParams();
  for (const [name, values] of Object.entries(fields)) for (const value of [values].flat()) body.append(name, value);
  const reply = await fetch(url, { method: 'POST', body, redirect: 'manual' });
  return { status: reply.status, headers: reply.headers, html: await reply.text() };
}

/** The opt-ins of an address, oldest first. */
export async function optInsOf(em: Em, projectId: string, email: string) {
  return query(
    em,
    sql`
      select o.*, c.is_pending, c.subscribed from opt_in o join contact c on c.id = o.contact_id
      where o.project_id = ${projectId} and c.email = ${email} order by o.created_at, o.id`,
  );
}

/** The subjects of the emails to an address, oldest first. */
export async function subjectsTo(em: Em, projectId: string, email: string): Promise<string[]> {
  const rows = await query(
    em,
    sql`select subject from email where project_id = ${projectId} and to_address = ${email} order by created_at, id`,
  );
  return rows.map(({ subject }) => subject as string);
}

/** Does what the workflow of an opt-in does, `days` after now. */
export function advance(app: Pick<TestApi, 'em' | 'config'>, optInId: string, days = 0): Promise<OptInOutcome> {
  const deps = { links: linkSignerOf(app.config), compileEmail: createEmailCompiler() };
  return advanceOptIn(app.em(), optInId, new Date(Date.now() + days * DAY_MS), deps);
}

/** Does what the workflows of all opt-ins of a project do now. @returns how many there are that wait */
export async function advanceAll(app: Pick<TestApi, 'em' | 'config'>, projectId: string, days = 0): Promise<number> {
  const rows = await query(app.em(), sql`select id from opt_in where project_id = ${projectId} and state = 'pending'`);
  for (const { id } of rows) await advance(app, id as string, days);
  return rows.length;
}

/** The path of the link in the confirmation of an opt-in. */
export function confirmPathOf(app: Pick<TestApi, 'config'>, optInId: string): string {
  return new URL(linkSignerOf(app.config).confirmUrl(optInId)).pathname;
}

/** Presses the button of the page behind the link of an opt-in. */
export async function confirm(app: Pick<TestApi, 'config' | 'url'>, optInId: string, more = ''): Promise<Response> {
  return fetch(`${app.url}${confirmPathOf(app, optInId)}${more}`, { method: 'POST', redirect: 'manual' });
}
