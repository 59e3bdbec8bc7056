import { collectDefaultMetrics, Registry } from 'prom-client';

/** The metrics of a process for Prometheus. Labels are fixed words: never an address, a name or an id. */
export interface ProcessMetrics {
  registry: Registry;
  /** Calls `look` before each answer; if it throws, the other figures are answered all the same. */
  beforeAnswer: (look: () => Promise<void> | void) => void;
  /** All figures in the text format of Prometheus. */
  text: () => Promise<string>;
}

/** Creates the metrics of a process, with those of Node.js: CPU, memory, delay of the event loop. */
export function createProcessMetrics(options: { withNode: boolean }): ProcessMetrics {
  const registry = new Registry();
  if (options.withNode) collectDefaultMetrics({ register: registry });
  const looks: (() => Promise<void> | void)[] = [];
  return {
    registry,
    beforeAnswer: (look) => void looks.push(look),
    async text() {
      await Promise.allSettled(looks.map(async (look) => look()));
      return registry.metrics();
    },
  };
}
