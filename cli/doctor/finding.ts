export type Level = 'ok' | 'warn' | 'fail';

/** What a look at one part of the installation found. */
export interface Finding {
  /** What was looked at, in one or two words. */
  area: string;
  level: Level;
  message: string;
  /** What to do about it; undefined when all is well. */
  action?: string;
}

/** A look at something. It changes nothing, and ends soon after `signal` is aborted. */
export interface Probe {
  area: string;
  run: (signal: AbortSignal) => Promise<Finding[]>;
}

export function ok(area: string, message: string): Finding {
  return { area, level: 'ok', message };
}

/** Works, but worse than it should. */
export function warn(area: string, message: string, action: string): Finding {
  return { area, level: 'warn', message, action };
}

/** Does not work. */
export function fail(area: string, message: string, action: string): Finding {
  return { area, level: 'fail', message, action };
}
