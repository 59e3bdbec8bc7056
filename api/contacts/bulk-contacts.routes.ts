import type { z } from 'zod';
import { writeContacts } from '../../shared/domain/contact-jobs/write-contacts.ts';
import { inTransaction } from '../../shared/database/sql.ts';
import { AppError, validationError } from '../../shared/pure/app-error.ts';
import { CHECKS } from '../../shared/pure/schema-messages.ts';
import { endpointsOf, ok, type Endpoint } from '../http/endpoint.ts';
import { fieldErrorsOf } from '../http/field-errors.ts';
import { bulkContactsBody, bulkContactsSchema, documentedBulkContacts, upsertContactBody } from './contacts.schemas.ts';

const endpoint = endpointsOf('Contacts');

type Results = z.infer<typeof bulkContactsSchema>['results'];

const SHOWN_EMAIL_LENGTH_MAX = 254;

/** The address as a caller wrote it. */
function writtenEmail(row: unknown): string | null {
  const email: unknown = typeof row === 'object' && row !== null ? Reflect.get(row, 'email') : undefined;
  return typeof email === 'string' ? email.slice(0, SHOWN_EMAIL_LENGTH_MAX) : null;
}

/** What is wrong with a contact; one that is no object has the field "contacts". */
function faultsOf(error: AppError): Results[number]['errors'] {
  return (error.errors ?? []).map(({ field, message, code }) => ({ field: field || 'contacts', message, code }));
}

/** Creates or updates many contacts in one request. */
export const bulkContactsEndpoint: Endpoint = endpoint('upsertContacts', 'POST /contacts/bulk', {
  roles: ['marketing'],
  summary: 'Create or update up to 1,000 contacts',
  description:
    'Each contact has the fields of POST /contacts and an outcome of its own: one that cannot be stored takes nothing from the others. Contacts with the same address are merged; a later one has precedence.',
  isIdempotent: true,
  body: bulkContactsBody,
  documentedBody: documentedBulkContacts,
  replies: { 200: { description: 'What became of each contact', schema: bulkContactsSchema } },
  async handle({ em, project, body }) {
    const rows = body.contacts.map((row) => {
      const read = upsertContactBody.safeParse(row, CHECKS);
      return read.success ? read.data : validationError(fieldErrorsOf(read.error));
    });
    const cause = { reason: 'api', endpoint: 'POST /contacts/bulk' } as const;
    const outcomes = await inTransaction(em, (tx) => writeContacts(tx, project.id, rows, cause));
    const results = outcomes.map((outcome, index): Results[number] => {
      const row = rows[index];
      const email = row && 'email' in row ? row.email : writtenEmail(body.contacts[index]);
      if (outcome instanceof AppError) return { email, outcome: 'error', id: null, errors: faultsOf(outcome) };
      return { email, ...outcome };
    });
    const count = (kind: Results[number]['outcome']) => results.filter(({ outcome }) => outcome === kind).length;
    return ok({
      results,
      createdCount: count('created'),
      updatedCount: count('updated'),
      unchangedCount: count('unchanged'),
      failureCount: count('error'),
    });
  },
});
