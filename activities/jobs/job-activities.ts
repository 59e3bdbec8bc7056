import { Context } from '@temporalio/activity';
import { isDatabaseUnavailable } from '../../shared/domain/database-errors.ts';
import { endJob, findJobState, type JobState } from '../../shared/domain/jobs/jobs.ts';
import { runJob } from '../../shared/domain/jobs/run-job.ts';
import type { JobInput } from '../../shared/pure/workflow-contracts.ts';
import type { ActivityDeps } from '../deps.ts';
import { withHeartbeat } from '../heartbeat.ts';

/** A fault that comes back this often will not go away; whoever polls the job is told. Outages do not count as one. */
const ATTEMPTS_MAX = 10;

/** Activities of imports and bulk operations. */
export function createJobActivities(deps: ActivityDeps) {
  const em = () => deps.orm.em.fork();

  return {
    /** Runs a job to its end. A repeated call goes on after the last chunk that was committed. */
    async runJob({ jobId }: JobInput): Promise<{ state: JobState | 'deleted' }> {
      return withHeartbeat(deps, async (signal) => {
        try {
          await runJob(jobId, { em, signal });
          deps.wakeDispatcher();
        } catch (error) {
          const isTransient = isDatabaseUnavailable(error) || signal.aborted;
          if (isTransient || Context.current().info.attempt < ATTEMPTS_MAX) throw error;
          deps.logger.error({ err: error, jobId }, 'a job cannot be finished');
          await endJob(em(), jobId, 'The job cannot be finished because of an unexpected error');
        }
        return { state: (await findJobState(em(), jobId)) ?? 'deleted' };
      });
    },

    /** Ends a job that is not to be run any further. */
    async failJob({ jobId, reason }: JobInput & { reason: string }): Promise<void> {
      await endJob(em(), jobId, reason);
    },
  };
}
