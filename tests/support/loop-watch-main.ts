/**
 * Loaded into a process by `--import`: says over the IPC channel how long the process kept its event loop to itself, and
 * throws where nobody catches it. Counted is the CPU time of the main thread in one turn of the loop: how long a turn takes on
 * the clock says more about the machine.
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
