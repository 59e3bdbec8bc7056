import { z } from 'zod';
import { readSuppressionFile } from '../../shared/domain/contact-jobs/suppression-file.ts';
import { suppressAddresses } from '../../shared/domain/suppressions/suppression-lists.ts';
import { LIMITS } from '../../shared/pure/limits.ts';
import { importForm, importQuery, readMap, readUpload } from '../contacts/import-map.ts';
import { endpointsOf, ok, type Endpoint } from '../http/endpoint.ts';
import type { UploadedFile } from '../http/multipart-body.ts';
import { listOf } from '../../shared/pure/model.ts';

const endpoint = endpointsOf('Suppressions');

const importedSchema = z.object({
  totalRows: z.int(),
  added: z.int(),
  present: z.int().describe('rows whose address was suppressed already, or is in the file more than once'),
  failureCount: z.int(),
  errors: listOf(
    'SuppressionRowError',
    'A row that could not be stored, and why',
    'the first hundred rows that could not be stored',
    {
      row: z.int(),
      email: z.string().nullable().describe('As it is written in the row'),
      error: z.string(),
    },
  ),
});

const upload = endpoint<UploadedFile, z.infer<typeof importQuery>>('importSuppressions', 'POST /suppressions/import', {
  roles: ['support'],
  isHeavy: true,
  summary: 'Suppress the addresses of a CSV file',
  description:
    'With a header row: a column of addresses (`email`, `Email Address` …) is required, `words` says why; every other column is ignored, so an exported table can be imported. Rows that cannot be stored are reported, the others are kept; the same file may be sent again.',
  query: importQuery,
  multipart: importForm,
  replies: { 200: { description: 'What was stored', schema: importedSchema } },
  async handle({ em, project, query, body }) {
    const map = readMap(query, body);
    const { suppressed, ...counts } = await readUpload(() => readSuppressionFile(body.content, map));
    let added = 0;
    for (let at = 0; at < suppressed.length; at += LIMITS.suppressionsPerRequest) {
      added += await suppressAddresses(em, project.id, suppressed.slice(at, at + LIMITS.suppressionsPerRequest));
    }
    return ok({ ...counts, added, present: suppressed.length - added });
  },
});

export const suppressionImportEndpoints: Endpoint[] = [upload];
