import { BroadcastChannel, isMainThread } from 'node:worker_threads';

/**
 * Loaded into a process before its own code (`--import`, with `--expose-gc`). At SIGUSR2 it collects garbage in all
 * threads and prints the memory that is still in use; without the collection the figures would include garbage.
 */
const REPLY_MS = 3_000;
const channel = new BroadcastChannel('everpost-memory-report');

interface Report {
  heapBytes: number;
}

function collect(): Report {
  if (!globalThis.gc) throw new Error('start this process with --expose-gc');
  globalThis.gc();
  globalThis.gc();
  return { heapBytes: process.memoryUsage().heapUsed };
}

let replies: Report[] = [];
let count = 0;
channel.onmessage = (event: unknown) => {
  const { data } = event as { data: Report | 'collect' };
  if (data !== 'collect') replies.push(data);
  else if (!isMainThread) channel.postMessage(collect());
};
(channel as unknown as { unref: () => void }).unref();

if (isMainThread) {
  process.on('SIGUSR2', () => {
    replies = [];
    channel.postMessage('collect');
    setTimeout(() => {
      const heapBytes = [collect(), ...replies].reduce((sum, report) => sum + report.heapBytes, 0);
      const { rss } = process.memoryUsage();
      count += 1;
      process.stdout.write(
        `${JSON.stringify({ memoryReport: count, threads: replies.length + 1, heapBytes, rssBytes: rss })}\n`,
      );
    }, REPLY_MS);
  });
}
