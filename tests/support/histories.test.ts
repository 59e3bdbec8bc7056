import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { HISTORIES_DIRECTORY, storeHistory } from './histories.ts';

it('leaves a recording as it is, because workflows of earlier versions are open with such a history', async () => {
  const file = new URL('campaign.sent-at-once.json', HISTORIES_DIRECTORY);
  const recorded = readFileSync(file, 'utf8');
  const client = { workflow: { getHandle: () => ({ fetchHistory: async () => ({ events: [] }) }) } };
  try {
    await storeHistory(client as unknown as Client, 'campaign/1', 'campaign.sent-at-once');
    expect(readFileSync(file, 'utf8')).toBe(recorded);
  } finally {
    writeFileSync(file, recorded);
  }
});
