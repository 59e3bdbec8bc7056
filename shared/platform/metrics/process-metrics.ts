import { collectDefaultMetrics, Registry } from 'prom-client';

/** Creates the metrics of a process, with those of Node.js: CPU, memory, delay of the event loop. */
export function createProcessMetrics(options: { withNode: boolean }) {
  const registry = new Registry();
  if (options.withNode) collectDefaultMetrics({ register: registry });
  const updates: (() => Promise<void> | void)[] = [];
  return {
    registry,
    /** Calls `update` before each scrape. If it throws, the other figures are still answered. */
    beforeAnswer: (update: () => Promise<void> | void) => void updates.push(update),
    /** All figures in the text format of Prometheus. */
    text: async (): Promise<string> => {
      await Promise.allSettled(updates.map(async (update) => update()));
      return registry.metrics();
    },
  };
}

/** The metrics of a process for Prometheus. Labels are fixed words: never an address, a name or an id. */
export type ProcessMetrics = ReturnType<typeof createProcessMetrics>;
