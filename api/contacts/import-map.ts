import { z } from 'zod';
import { ImportFileError } from '../../shared/domain/contact-jobs/csv-file.ts';
import {
  MAPPING_LENGTH_MAX,
  readColumnMapping,
  type ColumnMapping,
} from '../../shared/domain/contact-jobs/import-header.ts';
import { validationError } from '../../shared/pure/app-error.ts';
import type { UploadedFile } from '../http/multipart-body.ts';

const DESCRIPTION =
  'What a column is, as `<column>:<target>`: `email`, `subscribed`, `trackingAllowed`, `ignored`, a topic such as `topic.news`, or a key of the data such as `data.plan`. It may be given several times, and as a field of the form, too';

const EXAMPLES = ['Kontakt:email', 'Ort:data.city'];

const text = z.string().max(MAPPING_LENGTH_MAX);

/** The query of an endpoint that takes a file with columns. */
export const importQuery = z.object({
  map: z.optional(z.union([text, z.array(text).max(500)])).meta({
    override: { type: 'array', items: { type: 'string' } },
    description: DESCRIPTION,
    examples: [EXAMPLES],
  }),
});

/** The form of such an endpoint. */
export const importForm = { field: 'file', texts: { field: 'map', description: DESCRIPTION, examples: EXAMPLES } };

/** What the caller says of columns, in the query and in the form. @throws AppError VALIDATION_ERROR */
export function readMap(query: z.infer<typeof importQuery>, { texts }: UploadedFile): ColumnMapping[] {
  return [query.map ?? [], texts].flat().map((each) => {
    const mapping = readColumnMapping(each);
    if (mapping) return mapping;
    const message =
      'Must be <column>:<target>, where the target is email, subscribed, trackingAllowed, ignored, topic.<key> or data.<key>';
    throw validationError([{ field: 'map', message, code: 'invalid_string', received: each.slice(0, 200) }]);
  });
}

/** Calls a function that reads a file. @throws AppError VALIDATION_ERROR for a fault of the file */
export async function readUpload<Result>(read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ImportFileError)) throw error;
    throw validationError([{ field: 'file', message: error.message, code: 'invalid_file' }]);
  }
}
