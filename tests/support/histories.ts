import { mkdir, writeFile } from 'node:fs/promises';
import type { Client } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';

/** Where recorded histories lie: one file a run, named `<workflow type>.<what it shows>.json`. */
export const HISTORIES_DIRECTORY = new URL('../../workflows/histories/', import.meta.url);

/** A recorded history, with the workflow id that replaying needs and histories do not hold. */
export interface StoredHistory {
  workflowId: string;
  history: unknown;
}

/** These fields name the machine and the user of the recording. Replaying reads none of them. */
function withoutOrigin(json: string): string {
  return json
    .replaceAll(/"(identity|binaryId)":\s*"[^"]*"/g, '"$1":"recorded"')
    .replaceAll(/"\d+@[\w.-]+"/g, '"recorded"')
    .replaceAll(/"stackTrace":\s*"(?:[^"\\]|\\.)*"/g, '"stackTrace":""');
}

/**
 * Fetches the history of a run and stores it under `name`. A recording that is there stays: open workflows of earlier
 * versions have such a history, and a new one in its place would only show that the new code fits itself.
 */
export async function storeHistory(client: Client, workflowId: string, name: string, runId?: string): Promise<void> {
  const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  const stored: StoredHistory = { workflowId, history: JSON.parse(withoutOrigin(historyToJSON(history))) };
  await mkdir(HISTORIES_DIRECTORY, { recursive: true });
  await writeFile(new URL(`${name}.json`, HISTORIES_DIRECTORY), `${JSON.stringify(stored)}\n`, { flag: 'wx' }).catch(
    (error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    },
  );
}
