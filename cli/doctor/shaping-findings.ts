import { ANY } from '../../shared/pure/traffic-rules.ts';
import { ConfigError } from '../../shared/platform/config.ts';
import { readShapingFile } from '../../shared/platform/shaping-file.ts';
import type { Em } from '../../shared/database/sql.ts';
import { listSources } from '../../shared/domain/emails/sources.ts';
import { findingsAbout, type Finding } from './finding.ts';

const { ok, warn, fail } = findingsAbout('traffic rules');

/** Checks `SHAPING_FILE`, and that workers have the sources which it names, and those that warm up. */
export async function shapingFindings(em: Em, file: string | undefined): Promise<Finding[]> {
  const sources = await listSources(em);
  const gone = sources.filter(({ isInUse, warmUp }) => warmUp && !isInUse).map(({ name }) => name);
  const remedy = 'Under another name a source sends without a plan. `everpost source remove` forgets the old name.';
  const warming = gone.map((name) => findingsAbout('warm-up').warn(`no worker has source ${name} any more`, remedy));
  const used = sources.filter(({ isInUse }) => isInUse).map(({ name }) => name);
  return [...(file === undefined ? [] : fileFindings(file, used)), ...warming];
}

/** Checks `SHAPING_FILE`. @param used the sources that workers have */
function fileFindings(file: string, used: readonly string[]): Finding[] {
  try {
    const { rules, plans = [] } = readShapingFile(file);
    const known = new Set([ANY, ...used]);
    const unknown = new Set([...rules, ...plans].flatMap(({ source }) => (known.has(source) ? [] : [source])));
    if (unknown.size === 0) return [ok('SHAPING_FILE can be used')];
    const message = `SHAPING_FILE names sources that no worker has: ${[...unknown].join(', ')}`;
    return [warn(message, 'Compare the names with `everpost source list`.')];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [fail(error.message, 'Correct the file; workers do not start with it.')];
  }
}
