import { fileURLToPath } from 'node:url';
import type { EverpostProcess } from './everpost-process.ts';

const SPARE = fileURLToPath(new URL('spare-main.ts', import.meta.url));

/** Processes of one kind, of which one runs at a time. */
export interface Succession {
  /** Runs the next one, unless one is running. Its modules are loaded already. */
  start: () => void;
  /** The one that runs, or ran last. */
  current: () => EverpostProcess;
  isRunning: () => boolean;
  /** Ends the one that runs as a power cut would. */
  kill: () => Promise<void>;
  /** Ends all. */
  close: () => Promise<void>;
}

/** @param create starts a process with these arguments of Node (`startEverpostProcess`) */
export function createSuccession(create: (nodeArguments: string[]) => EverpostProcess): Succession {
  let running: EverpostProcess | undefined;
  let spare = create([SPARE]);
  const isRunning = () => running?.isRunning() ?? false;
  return {
    start() {
      if (isRunning()) return;
      running = spare;
      running.begin();
      spare = create([SPARE]);
    },
    current() {
      if (!running) throw new Error('no process has been started');
      return running;
    },
    isRunning,
    kill: async () => running?.kill(),
    close: async () => void (await Promise.all([running?.kill(), spare.kill()])),
  };
}
