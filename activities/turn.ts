import { turnOverFailure } from './failures.ts';

/** After this time, an attempt leaves its slot to other work that waits for one. */
const TURN_MS = 5_000;

/**
 * Begins the turn of an attempt whose work has many parts, so that the work of one project does not occupy all slots.
 * The attempt checks the signal after a part, not before the first one, so that it makes progress.
 * @returns a signal that is aborted when the turn is over, with the failure to throw as its reason
 */
export function beginTurn(turnMs = TURN_MS): AbortSignal {
  const turn = new AbortController();
  setTimeout(() => turn.abort(turnOverFailure()), turnMs).unref();
  return turn.signal;
}
