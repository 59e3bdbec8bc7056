import { endJob, findJobState, type JobState } from '../../shared/domain/jobs/jobs.ts';
import { runJob } from '../../shared/domain/contact-jobs/run-job.ts';
import type { JobInput } from '../../shared/pure/workflow-contracts.ts';
import type { ActivityDeps } from '../deps.ts';
import { withHeartbeat } from '../../shared/durable/attempts/heartbeat.ts';
import { beginTurn } from '../../shared/durable/attempts/failures.ts';

/** Activities of imports and bulk operations. */
export function createJobActivities(deps: ActivityDeps) {
  const em = () => deps.orm.em.fork();

  return {
    /** Runs a job to its end, or for a turn. A repeated call goes on after the last chunk that was committed. */
    async runJob({ jobId }: JobInput): Promise<{ state: JobState | 'deleted' }> {
      return withHeartbeat(deps, async (signal, advance) => {
        await runJob(jobId, { em, signal, turn: beginTurn(), onChunk: advance });
        return { state: (await findJobState(em(), jobId)) ?? 'deleted' };
      });
    },

    /** Ends a job that is not to be run any further. */
    async failJob({ jobId, reason }: JobInput & { reason: string }): Promise<void> {
      await endJob(em(), jobId, reason);
    },
  };
}
