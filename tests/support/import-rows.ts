import { checkImportFile } from '../../shared/domain/contact-jobs/import-file.ts';
import type { ImportFile } from '../../shared/domain/contact-jobs/imported-rows.ts';
import type { ColumnMapping } from '../../shared/domain/contact-jobs/import-header.ts';

/** A file of an import with all its rows. */
export async function readWhole(content: Buffer, mappings: readonly ColumnMapping[] = []): Promise<ImportFile> {
  const { rowsFrom, topicKeys, firstValues } = await checkImportFile(content, mappings);
  const rows: ImportFile['rows'] = [];
  for await (const some of rowsFrom(0, 4_000)) rows.push(...some);
  return { topicKeys, firstValues, rows };
}
