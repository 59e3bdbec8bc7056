export type Level = 'ok' | 'warn' | 'fail';

/** The result of checking one part of the installation. */
export interface Finding {
  /** The checked part, in one or two words. */
  area: string;
  level: Level;
  message: string;
  /** What to do; undefined when nothing is wrong. */
  action?: string;
}

/** A check. It changes nothing, and ends soon after `signal` is aborted. */
export interface Probe {
  area: string;
  run: (signal: AbortSignal) => Promise<Finding[]>;
}

/** A part that works. */
export function ok(area: string, message: string): Finding {
  return { area, level: 'ok', message };
}

/** A part that works, but worse than it should. */
export function warn(area: string, message: string, action: string): Finding {
  return { area, level: 'warn', message, action };
}

/** A part that does not work. */
export function fail(area: string, message: string, action: string): Finding {
  return { area, level: 'fail', message, action };
}
