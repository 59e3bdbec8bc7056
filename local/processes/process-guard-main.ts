import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { GuardMessage } from './process-guard.ts';
import { sendSignal, waitUntilGone } from './running-process.ts';

const gentleStopMs = 10_000;
const watched = new Map<number, { signal: NodeJS.Signals; stopRank: number }>();
const toRemove: string[] = [];

// The guarded process decides when this one ends, by closing the pipe; never a terminal or a service manager.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line) as GuardMessage;
  if (message.kind === 'watch') watched.set(message.pid, message);
  else if (message.kind === 'forget') watched.delete(message.pid);
  else toRemove.push(message.path);
}

const ranks = [...new Set([...watched.values()].map((entry) => entry.stopRank))].sort((a, b) => a - b);
for (const rank of ranks) {
  const entries = [...watched].filter(([, entry]) => entry.stopRank === rank);
  await Promise.all(
    entries.map(async ([pid, { signal }]) => {
      sendSignal(pid, signal);
      if (!(await waitUntilGone(pid, gentleStopMs))) sendSignal(pid, 'SIGKILL');
    }),
  );
}
for (const path of toRemove) rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
