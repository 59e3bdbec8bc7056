import { ANY } from '../../shared/pure/traffic-rules.ts';
import { ConfigError } from '../../shared/platform/config.ts';
import { readShapingFile } from '../../shared/platform/shaping-file.ts';
import type { Em } from '../../shared/database/sql.ts';
import { listSources } from '../../shared/domain/emails/sources.ts';
import { findingsAbout, type Finding } from './finding.ts';

const { ok, warn, fail } = findingsAbout('traffic rules');

/** Checks `SHAPING_FILE`, and that workers have the sources which it names. */
export async function shapingFindings(em: Em, file: string | undefined): Promise<Finding[]> {
  if (file === undefined) return [];
  try {
    const { rules, plans = [] } = readShapingFile(file);
    const known = new Set([ANY, ...(await listSources(em)).map(({ name }) => name)]);
    const unknown = new Set([...rules, ...plans].flatMap(({ source }) => (known.has(source) ? [] : [source])));
    if (unknown.size === 0) return [ok('SHAPING_FILE can be used')];
    const message = `SHAPING_FILE names sources that no worker has: ${[...unknown].join(', ')}`;
    return [warn(message, 'Compare the names with `everpost source list`.')];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [fail(error.message, 'Correct the file; workers do not start with it.')];
  }
}
