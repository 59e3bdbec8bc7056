import { expect } from '@jest/globals';
import type { TestProject } from './api.ts';

/** A form with a CSV file. */
export function csvForm(content: string | Buffer, field = 'file'): FormData {
  const form = new FormData();
  form.append(field, new Blob([new Uint8Array(Buffer.from(content))], { type: 'text/csv' }), `${field}.csv`);
  return form;
}

/** Uploads a CSV file of contacts. @returns the id of the job that imports it */
export async function uploadContacts(owner: TestProject, content: string | Buffer): Promise<string> {
  const { status, body } = await owner.api('POST', '/contacts/import', { raw: csvForm(content) });
  expect(status).toBe(202);
  return body.jobId;
}
