import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import { testEnvironment } from '../tests/support/environment.ts';
import { quietTemporal } from '../tests/support/quiet-temporal.ts';
import { HISTORIES_DIRECTORY, type StoredHistory } from '../tests/support/histories.ts';

quietTemporal();

function readHistory(file: string): StoredHistory {
  return JSON.parse(readFileSync(new URL(file, HISTORIES_DIRECTORY), 'utf8')) as StoredHistory;
}

function replay({ workflowId, history }: StoredHistory): Promise<void> {
  const workflowBundle = { codePath: testEnvironment().workflowBundlePath };
  return Worker.runReplayHistory({ workflowBundle }, historyFromJSON(history), workflowId);
}

const files = readdirSync(HISTORIES_DIRECTORY).filter((file) => file.endsWith('.json'));

describe('executions recorded by earlier versions', () => {
  it.each(files)('%s replays on the workflows of today', async (file) => {
    await replay(readHistory(file));
  });

  it('would not replay on workflows that decide differently', async () => {
    const stored = readHistory('campaign.sent-at-once.json');
    const altered = JSON.parse(
      JSON.stringify(stored.history).replaceAll('freezeAudience', 'freezeSomethingElse'),
    ) as unknown;
    await expect(replay({ ...stored, history: altered })).rejects.toThrow(/nondeterminism|Nondeterminism/i);
  });
});
