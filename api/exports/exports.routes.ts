import type { z } from 'zod';
import { readClock } from '../../shared/database/clock.ts';
import {
  EXPORT_MEMORY_BYTES,
  exportPieces,
  type ExportFormat,
  type ExportSource,
} from '../../shared/database/exported-rows.ts';
import { joinSql, type SqlFragment, type Em } from '../../shared/database/sql.ts';
import type { Shape } from '../../shared/database/shape.ts';
import { contactExport } from '../../shared/domain/exports/contact-export.ts';
import { emailExport } from '../../shared/domain/exports/email-export.ts';
import { eventExport } from '../../shared/domain/exports/event-export.ts';
import { assertFilterSize } from '../../shared/domain/filters/filter-size.ts';
import { segmentPredicate } from '../../shared/domain/segments/segment-predicate.ts';
import { findSegment } from '../../shared/domain/segments/segments.ts';
import { periodOf } from '../events/events.schemas.ts';
import { endpointsOf, type Endpoint, type Reply } from '../http/endpoint.ts';
import {
  contactExportBody,
  contactExportQuery,
  emailExportQuery,
  eventExportQuery,
  exportedContactSchema,
  exportedEmailSchema,
  exportedEventSchema,
} from './exports.schemas.ts';

const CONTENT_TYPES: Record<ExportFormat, string> = { csv: 'text/csv', jsonl: 'application/jsonl' };

const base = { roles: ['marketing', 'read'], isHeavy: true, isAudited: true } as const;

const fileReply = (row: z.ZodType) => ({
  200: { description: 'The file; as JSON lines, each line is one object', row },
});

const HOW_READ =
  'The file is complete only when the answer ends without an error: after a fault on the way, and when the key ends or the project is disabled, the connection is cut. Rows that are written meanwhile may be in it or not; no other row is lost or comes twice.';

function fileOf<Position extends Shape>(
  em: Em,
  name: string,
  format: ExportFormat,
  source: ExportSource<Position>,
): Reply {
  const headers = {
    'Content-Type': `${CONTENT_TYPES[format]}; charset=utf-8`,
    'Content-Disposition': `attachment; filename="${name}.${format}"`,
  };
  const pieces = exportPieces(() => em.fork(), source, format);
  return { status: 200, stream: { headers, pieces, pieceBytes: EXPORT_MEMORY_BYTES, isRows: true, isExport: true } };
}

type ContactFilters = z.infer<typeof contactExportBody>;

/** The predicate over `contact c` of a segment and a condition. @throws AppError SEGMENT_NOT_FOUND, BAD_REQUEST */
async function predicateOf(
  em: Em,
  projectId: string,
  { segmentId, condition }: ContactFilters,
): Promise<SqlFragment | undefined> {
  const asOf = await readClock(em);
  const predicates: SqlFragment[] = [];
  if (segmentId !== undefined) {
    predicates.push(await segmentPredicate(em, await findSegment(em, projectId, segmentId), asOf));
  }
  if (condition) {
    assertFilterSize(condition, 'condition');
    const segment = { id: projectId, projectId, type: 'DYNAMIC', condition } as const;
    predicates.push(await segmentPredicate(em, segment, asOf, { isStored: true }));
  }
  return predicates.length > 0 ? joinSql(predicates, ' and ') : undefined;
}

const contacts = endpointsOf('Contacts')('exportContacts', 'GET /contacts/export', {
  ...base,
  summary: 'All contacts, or those of filters, as a file',
  description: `In the order of their ids. \`POST /contacts/import\` takes the file with all columns as it is. ${HOW_READ}`,
  query: contactExportQuery,
  replies: fileReply(exportedContactSchema),
  errors: ['BAD_REQUEST', 'SEGMENT_NOT_FOUND'],
  async handle({ em, project, query }) {
    const predicate = await predicateOf(em, project.id, query);
    return fileOf(em, 'contacts', query.format, await contactExport(em, project.id, { ...query, predicate }));
  },
});

const contactsByBody: Endpoint = {
  ...contacts,
  operationId: 'exportContactsByBody',
  summary: 'Contacts as a file, with the filters in the body',
  description:
    'As `GET /contacts/export`. A long condition fits into a body, and no address comes into the logs of proxies.',
  method: 'post',
  effect: 'reads',
  query: undefined,
  body: contactExportBody,
  handle: (context) => contacts.handle({ ...context, query: context.body }),
};

const emails = endpointsOf('Emails')('exportEmails', 'GET /emails/export', {
  ...base,
  summary: 'All emails, or those of filters, as a file, newest first',
  description: `With the filters of the list. ${HOW_READ}`,
  query: emailExportQuery,
  replies: fileReply(exportedEmailSchema),
  handle({ em, project, query: { format, columns, since, until, ...filters } }) {
    const period = periodOf({ startDate: since, endDate: until });
    return Promise.resolve(fileOf(em, 'emails', format, emailExport(project.id, { ...filters, period }, columns)));
  },
});

const events = endpointsOf('Events')('exportEvents', 'GET /events/export', {
  ...base,
  summary: 'All events, or those of filters, as a file, newest first',
  description: HOW_READ,
  query: eventExportQuery,
  replies: fileReply(exportedEventSchema),
  handle({ em, project, query: { format, columns, eventName: name, contactId, ...query } }) {
    const source = eventExport(project.id, { name, contactId, period: periodOf(query) }, columns);
    return Promise.resolve(fileOf(em, 'events', format, source));
  },
});

export const exportEndpoints: Endpoint[] = [contacts, contactsByBody, emails, events];
