import type { z } from 'zod';
import type { Em } from '../../shared/database/sql.ts';
import {
  pageOfSuppressions,
  suppressAddresses,
  type SuppressionCursor,
  type SuppressionQuery,
} from '../../shared/domain/suppressions/suppression-lists.ts';
import { removeSuppression } from '../../shared/domain/suppressions/suppressions.ts';
import { AppError } from '../../shared/pure/app-error.ts';
import { normalizeAddress } from '../../shared/pure/emails/email-address.ts';
import { csvTable } from '../http/csv-reply.ts';
import { endpointsOf, noContent, ok, type Endpoint, type Reply } from '../http/endpoint.ts';
import { searchByBody } from '../http/search-by-body.ts';
import {
  addedSuppressionsSchema,
  addressParams,
  addSuppressionsBody,
  suppressionCursors,
  suppressionListQuery,
  suppressionListSchema,
  suppressionSearchBody,
  suppressionSchema,
  suppressionView,
} from './suppressions.schemas.ts';

const endpoint = endpointsOf('Suppressions');

type Suppression = z.infer<typeof suppressionSchema>;
const COLUMNS = Object.keys(suppressionSchema.shape) as (keyof Suppression)[];
/** Rows of a CSV table that are read at a time. */
const ROWS_PER_PIECE = 1_000;

async function* readSuppressions(
  em: Em,
  projectId: string,
  filters: Pick<SuppressionQuery, 'reason' | 'address'>,
): AsyncGenerator<Suppression[]> {
  let after: SuppressionCursor | undefined;
  do {
    const page = await pageOfSuppressions(em, projectId, { ...filters, limit: ROWS_PER_PIECE, after });
    after = page.next;
    yield page.suppressions.map(suppressionView);
  } while (after);
}

const list = endpoint('listSuppressions', 'GET /suppressions', {
  roles: ['marketing', 'support', 'read'],
  summary: 'List addresses that get no email, newest first',
  description:
    'With a reason, a page may have fewer than `limit`: go on while `hasMore` is true. As CSV (`Accept: text/csv` or `format=csv`) all of them come in one answer.',
  query: suppressionListQuery,
  replies: {
    200: { description: 'A page of suppressions, or all of them as CSV', schema: suppressionListSchema, csv: true },
  },
  errors: ['BAD_REQUEST'],
  async handle({ em, project, query: { cursor, limit, reason, format, ...given }, wantsCsv }) {
    const filters = { reason, address: given.address === undefined ? undefined : normalizeAddress(given.address) };
    const after = suppressionCursors.read(cursor);
    if (wantsCsv(format)) {
      const pages = readSuppressions(em, project.id, filters);
      return { status: 200, stream: csvTable('suppressions.csv', COLUMNS, pages) };
    }
    const { suppressions, next } = await pageOfSuppressions(em, project.id, { ...filters, limit, after });
    return ok({
      suppressions: suppressions.map(suppressionView),
      ...suppressionCursors.after(next && { ...next }),
    });
  },
});

const search = searchByBody(list, {
  operationId: 'searchSuppressions',
  summary: 'Find suppressed addresses, with the address in the body',
  body: suppressionSearchBody,
});

const add = endpoint('addSuppressions', 'POST /suppressions', {
  roles: ['support'],
  summary: 'Suppress addresses by hand',
  description: 'They get no email of any kind, transactional email included. Contacts stay as they are.',
  body: addSuppressionsBody,
  replies: { 200: { description: 'How many were added', schema: addedSuppressionsSchema } },
  async handle({ em, project, body }) {
    const addresses = [...new Set(body.emails.map(normalizeAddress))];
    const words = body.words ?? null;
    const added = await suppressAddresses(
      em,
      project.id,
      addresses.map((address) => ({ address, words })),
    );
    return ok({ added, present: addresses.length - added });
  },
});

async function allowAgain(em: Em, projectId: string, address: string): Promise<Reply> {
  if (await removeSuppression(em, projectId, normalizeAddress(address))) return noContent();
  throw new AppError('RESOURCE_NOT_FOUND', { message: 'This address is not suppressed' });
}

const remove = endpoint('removeSuppression', 'DELETE /suppressions/:address', {
  roles: ['support'],
  summary: 'Let an address get email again',
  description: 'Its contact stays unsubscribed until it subscribes itself.',
  params: addressParams,
  malformedIdCode: 'RESOURCE_NOT_FOUND',
  replies: { 204: { description: 'It may get email again' } },
  errors: ['RESOURCE_NOT_FOUND'],
  handle: ({ em, project, params }) => allowAgain(em, project.id, params.address),
});

const removeByBody = endpoint('removeSuppressionByBody', 'POST /suppressions/remove', {
  roles: ['support'],
  summary: 'Let an address in the body get email again',
  description: 'As `DELETE /suppressions/:address`, without the address in the URL, which proxies write to their logs.',
  body: addressParams,
  replies: { 204: { description: 'It may get email again' } },
  errors: ['RESOURCE_NOT_FOUND'],
  handle: ({ em, project, body }) => allowAgain(em, project.id, body.address),
});

export const suppressionEndpoints: Endpoint[] = [list, search, add, remove, removeByBody];
