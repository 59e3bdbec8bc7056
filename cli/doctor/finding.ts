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

/** Findings about one part of the installation: it works, works worse than it should, or does not work. */
export const findingsAbout = (area: string) => ({
  ok: (message: string): Finding => ({ area, level: 'ok', message }),
  warn: (message: string, action: string): Finding => ({ area, level: 'warn', message, action }),
  fail: (message: string, action: string): Finding => ({ area, level: 'fail', message, action }),
});
