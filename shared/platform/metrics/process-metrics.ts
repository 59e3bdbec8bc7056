import { collectDefaultMetrics, Registry } from 'prom-client';

/** What a process says of itself to Prometheus. Labels are words of ours: never an address, a name or an id of anybody. */
export interface ProcessMetrics {
  registry: Registry;
  /** Has `look` called before each answer; what it throws keeps the other figures from nobody. */
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
