import { proxyActivities } from '@temporalio/workflow';

const { nothing } = proxyActivities<{ nothing: () => Promise<void> }>({ startToCloseTimeout: '30 seconds' });

/** The least an execution can be: one activity. */
export async function bare(): Promise<void> {
  await nothing();
}
