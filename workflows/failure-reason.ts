import { ApplicationFailure, type ActivityFailure } from '@temporalio/workflow';

/** The reason, for people who look at the row, why work was given up. Failures of activities hold no content. */
export function reasonOf(error: ActivityFailure): string {
  const { cause } = error;
  return cause instanceof ApplicationFailure ? cause.message : 'The work was given up because it took too long.';
}
