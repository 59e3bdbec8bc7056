import { ApplicationFailure, type ActivityFailure } from '@temporalio/workflow';

/** What those who look at the row read about work that was given up. Failures of activities hold no content. */
export function reasonOf(error: ActivityFailure): string {
  const { cause } = error;
  return cause instanceof ApplicationFailure ? cause.message : 'The work was given up because it took too long.';
}
