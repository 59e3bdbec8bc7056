import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import { workflowTracing } from '../shared/platform/tracing/temporal.ts';
import { TRACE_HEADER } from '../shared/pure/trace-parent.ts';
import { testEnvironment } from '../tests/support/environment.ts';
import { quietTemporal } from '../tests/support/quiet-temporal.ts';
import { HISTORIES_DIRECTORY, type StoredHistory } from '../tests/support/histories.ts';

quietTemporal();

function readHistory(file: string): StoredHistory {
  return JSON.parse(readFileSync(new URL(file, HISTORIES_DIRECTORY), 'utf8')) as StoredHistory;
}

function replay({ workflowId, history }: StoredHistory): Promise<void> {
  const workflowBundle = { codePath: testEnvironment().workflowBundlePath };
  return Worker.runReplayHistory({ workflowBundle, sinks: workflowTracing }, historyFromJSON(history), workflowId);
}

/** The same history of a workflow that was started within a trace. */
function withTrace(history: unknown): unknown {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
  const payload = { metadata: { encoding: base64('json/plain') }, data: base64(JSON.stringify(trace)) };
  const traced = structuredClone(history) as {
    events: { workflowExecutionStartedEventAttributes?: { header?: unknown } }[];
  };
  const started = traced.events[0]?.workflowExecutionStartedEventAttributes;
  if (!started) throw new Error('the history does not begin with a start');
  started.header = { fields: { [TRACE_HEADER]: payload } };
  return traced;
}

const files = readdirSync(HISTORIES_DIRECTORY).filter((file) => file.endsWith('.json'));

describe('recorded executions', () => {
  it.each(files)('%s replays with the current workflow code', async (file) => {
    await replay(readHistory(file));
  });

  it.each(files)('%s replays with a trace as well', async (file) => {
    const { workflowId, history } = readHistory(file);
    await replay({ workflowId, history: withTrace(history) });
  });

  it('do not replay with workflow code that decides differently', async () => {
    const stored = readHistory('campaign.sent-at-once.json');
    const altered = JSON.parse(
      JSON.stringify(stored.history).replaceAll('freezeAudience', 'freezeSomethingElse'),
    ) as unknown;
    await expect(replay({ ...stored, history: altered })).rejects.toThrow(/nondeterminism/i);
  });
});
