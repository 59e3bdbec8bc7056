import { ApplicationFailure, type ActivityFailure } from '@temporalio/workflow';

/** The reason why an activity was given up, which is stored with the row. Failures of activities contain no content. */
export function reasonOf(error: ActivityFailure): string {
  const { cause } = error;
  return cause instanceof ApplicationFailure ? cause.message : 'The work was given up because it took too long.';
}
