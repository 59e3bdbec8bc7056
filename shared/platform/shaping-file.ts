import { readFileSync } from 'node:fs';
import { CHECKS } from '../pure/schema-messages.ts';
import { shapingFileSchema, type ShapingFile } from '../pure/traffic-rules.ts';
import { ConfigError } from './config.ts';

/**
 * Reads `SHAPING_FILE`, a JSON document. Without a file there are no rules but those for `mx` sources.
 * @throws ConfigError that names the line, or each field that is wrong
 */
export function readShapingFile(file: string | undefined): ShapingFile {
  const refuse = (fault: string): never => {
    throw new ConfigError(`SHAPING_FILE ${file}: ${fault}`);
  };
  let document: unknown = {};
  try {
    if (file !== undefined) document = JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
  } catch (error) {
    refuse(error instanceof SyntaxError ? `is no JSON: ${error.message}` : `cannot be read: ${String(error)}`);
  }
  const read = shapingFileSchema.safeParse(document, CHECKS);
  if (read.success) return read.data;
  const faults = read.error.issues.flatMap((issue) => {
    const names = issue.code === 'unrecognized_keys' ? issue.keys : [undefined];
    return names.map((name) => `  ${[...issue.path, name ?? []].flat().join('.') || 'the document'}: ${issue.message}`);
  });
  return refuse(`is not usable:\n${faults.join('\n')}`);
}
