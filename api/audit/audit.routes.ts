import { z } from 'zod';
import { AUDIT_OUTCOMES, listAudit, outcomeOf, type AuditEntry } from '../../shared/domain/audit/audit.ts';
import { cursorFields, cursorsOf, cursorTimeSchema } from '../http/cursor.ts';
import { endpointsOf, ok, type Endpoint } from '../http/endpoint.ts';
import { cursorPageQuery } from '../http/pagination.ts';
import { momentSchema } from '../../shared/pure/filters/instant-schema.ts';
import { model } from '../../shared/pure/model.ts';
import { viewOf } from '../http/view.ts';

const endpoint = endpointsOf('Keys');

const ACTORS = ['key', 'console', 'operator'] as const;
const OPERATION_LENGTH_MAX = 100;

const auditQuery = z.object({
  ...cursorPageQuery({ limitDefault: 50, limitMax: 500 }),
  operation: z
    .optional(z.string().max(OPERATION_LENGTH_MAX))
    .meta({ description: 'An operation of this document, or a command', examples: ['sendCampaign'] }),
  actor: z.enum(ACTORS).optional().describe('Only what was done with a key, in the console, or by an operator'),
  keyId: z.uuid().optional().describe('Only what was done with this key'),
  subjectId: z.uuid().optional().describe('Only what was done to the record with this id'),
  outcome: z.enum(AUDIT_OUTCOMES).optional().describe('Only what was done, was refused, or failed'),
  from: momentSchema.optional().meta({ description: 'The first moment', examples: ['2026-02-01T00:00:00Z'] }),
  to: momentSchema
    .optional()
    .meta({ description: 'The moment before which it ends', examples: ['2026-03-01T00:00:00Z'] }),
});

const cursors = cursorsOf(z.object({ at: cursorTimeSchema, id: z.uuid() }));

export const auditEntrySchema = model('AuditEntry', 'Who did what', {
  id: z.uuid(),
  actor: z.enum(ACTORS).describe('A request with a key, the console with a key, or an operator command'),
  keyId: z.uuid().nullable().describe('The key; null for an operator command'),
  keyName: z.nullable(z.string()).meta({ description: 'The name that the key had', examples: ['Shop server'] }),
  operation: z
    .string()
    .meta({ description: 'The operation of this document, or the command', examples: ['createKey'] }),
  subjectIds: z.array(z.uuid()).describe('The ids of what it was about'),
  outcome: z.enum(AUDIT_OUTCOMES).describe('done, refused (4xx) or failed (5xx)'),
  status: z.int().describe('The HTTP status of the answer; commands have the one that fits'),
  requestId: z.string().nullable().describe('The X-Request-ID of the request'),
  at: z.iso.datetime(),
});

/** An entry as callers see it. */
export const auditView = viewOf(auditEntrySchema, (entry: AuditEntry) => ({
  outcome: outcomeOf(entry),
  at: entry.createdAt.toISOString(),
}));

const list = endpoint('listAudit', 'GET /audit', {
  roles: ['read'],
  summary: 'Who did what, newest first',
  description:
    'Each writing request, action in the console and operator command, with its key, its outcome and the ids of what it was about. Sending, tracking and other calls that applications make by the thousand are not recorded.',
  query: auditQuery,
  replies: {
    200: {
      description: 'A page of entries',
      schema: z.object({ entries: z.array(auditEntrySchema), ...cursorFields }),
    },
  },
  errors: ['BAD_REQUEST'],
  async handle({ em, project, query: { cursor, ...filters } }) {
    const { entries, hasMore } = await listAudit(em, project.id, { ...filters, after: cursors.read(cursor) });
    const last = hasMore ? entries.at(-1) : undefined;
    return ok({ entries: entries.map(auditView), ...cursors.after(last && { at: last.createdAt, id: last.id }) });
  },
});

export const auditEndpoints: Endpoint[] = [list];
