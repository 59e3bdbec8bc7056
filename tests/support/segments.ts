import { expect } from '@jest/globals';
import { sql, type Em } from '../../shared/database/sql.ts';
import { query } from './rows.ts';
import type { TestProject } from './api.ts';

/** A condition that all these filters must meet. */
export const filters = (...list: unknown[]) => ({ logic: 'AND', groups: [{ filters: list }] });
export const isPro = filters({ field: 'data.plan', operator: 'equals', value: 'pro' });

/** @returns the segment as the API shows it */
export async function createSegment(owner: TestProject, body: object) {
  const reply = await owner.api('POST', '/segments', { body: { name: 'S', ...body } });
  expect(reply.status).toBe(201);
  return reply.body;
}

/** @returns the id of the contact */
export async function createContact(owner: TestProject, email: string, data: object = {}): Promise<string> {
  const reply = await owner.api('POST', '/contacts', { body: { email, data } });
  return reply.body.id;
}

/** The entries and exits of a project, oldest first. */
export async function segmentEventsOf(
  em: Em,
  owner: TestProject,
): Promise<{ name: string; contactId: string; data: unknown }[]> {
  return query(
    em,
    sql`
      select name, contact_id as "contactId", data from event
      where project_id = ${owner.project.id} and name like 'segment.%' order by id`,
  );
}
