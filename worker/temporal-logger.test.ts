import { expect, it } from '@jest/globals';
import type { Logger } from '../shared/platform/logger.ts';
import { temporalLogger } from './temporal-logger.ts';

it('says why a workflow task fails, and names no error where there is none', () => {
  const lines: [fields: object, message: string][] = [];
  const logger = { warn: (...line: (typeof lines)[number]) => lines.push(line) } as unknown as Logger;
  const failure = 'Failure { message: "[TMPRL1100] Nondeterminism error: …" }';
  temporalLogger(logger).warn('Failing workflow task', { runId: 'run', failure, spanContexts: [] });
  expect(lines).toEqual([[{ runId: 'run', failure }, 'Failing workflow task']]);
  expect(Object.keys(lines[0]![0])).not.toContain('err');
});
