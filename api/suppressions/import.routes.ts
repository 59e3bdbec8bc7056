import { z } from 'zod';
import { ImportFileError } from '../../shared/domain/contact-jobs/csv-file.ts';
import { readSuppressionFile, type SuppressionFile } from '../../shared/domain/contact-jobs/suppression-file.ts';
import { suppressAddresses } from '../../shared/domain/suppressions/suppression-lists.ts';
import { validationError } from '../../shared/pure/app-error.ts';
import { LIMITS } from '../../shared/pure/limits.ts';
import { endpoint, ok, type Endpoint } from '../http/endpoint.ts';
import type { UploadedFile } from '../http/multipart-body.ts';

const importedSchema = z.object({
  totalRows: z.int(),
  added: z.int(),
  present: z.int().describe('rows whose address was suppressed already, or is in the file more than once'),
  failureCount: z.int(),
  errors: z
    .array(
      z
        .object({
          row: z.int(),
          email: z.string().nullable().describe('As it is written in the row'),
          error: z.string(),
        })
        .meta({ id: 'SuppressionRowError', description: 'A row that could not be stored, and why' }),
    )
    .describe('the first hundred rows that could not be stored'),
});

async function readFile(content: Buffer): Promise<SuppressionFile> {
  try {
    return await readSuppressionFile(content);
  } catch (error) {
    if (!(error instanceof ImportFileError)) throw error;
    throw validationError([{ field: 'file', message: error.message, code: 'invalid_file' }]);
  }
}

const upload = endpoint<unknown, unknown, UploadedFile>({
  operationId: 'importSuppressions',
  isHeavy: true,
  method: 'post',
  path: '/suppressions/import',
  tag: 'Suppressions',
  summary: 'Suppress the addresses of a CSV file',
  description:
    'UTF-8, with a header row: `email` is required, `words` says why; every other column is ignored, so an exported table can be imported. Rows that cannot be stored are reported, the others are kept; the same file may be sent again.',
  key: 'secret',
  multipart: { field: 'file' },
  replies: { 200: { description: 'What was stored', schema: importedSchema } },
  async handle({ em, project, body }) {
    const { suppressed, ...counts } = await readFile(body.content);
    let added = 0;
    for (let at = 0; at < suppressed.length; at += LIMITS.suppressionsPerRequest) {
      added += await suppressAddresses(em, project.id, suppressed.slice(at, at + LIMITS.suppressionsPerRequest));
    }
    return ok({ ...counts, added, present: suppressed.length - added });
  },
});

/** The endpoint that imports suppressions. */
export const suppressionImportEndpoints: Endpoint[] = [upload];
