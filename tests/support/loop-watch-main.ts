/**
 * Loaded into a process by `--import`. On request over the IPC channel it reports the longest turn of the event loop,
 * or throws an error that nothing catches. A turn is measured in CPU time of the main thread, because its duration
 * depends on other programs.
 */
const TICK_MS = 2;

let longestTurnMs = 0;
let usedBefore = process.threadCpuUsage();

setInterval(() => {
  const { user, system } = process.threadCpuUsage(usedBefore);
  usedBefore = process.threadCpuUsage();
  longestTurnMs = Math.max(longestTurnMs, (user + system) / 1_000);
}, TICK_MS).unref();

process.on('message', (request: string) => {
  if (request === 'begin') return;
  if (request === 'throw') {
    setImmediate(() => {
      throw new Error('nothing catches this');
    });
  }
  if (request === 'reject') void Promise.reject(new Error('nothing handles this'));
  process.send?.({ longestTurnMs, rssBytes: process.memoryUsage.rss() });
  longestTurnMs = 0;
});
process.channel?.unref();
