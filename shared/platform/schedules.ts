import { TASK_QUEUES } from '../pure/task-queues.ts';
import { WORKFLOW_TYPES } from '../pure/workflow-contracts.ts';
import type { ScheduleDefinition } from './temporal-setup.ts';

/** Everything that runs by the clock. `everpost temporal setup` brings the namespace in line with this list. */
export const SCHEDULES: readonly ScheduleDefinition[] = [
  {
    scheduleId: 'domain-checks',
    workflowType: WORKFLOW_TYPES.domainChecks,
    taskQueue: TASK_QUEUES.orchestration,
    spec: { intervals: [{ every: '5 minutes' }] },
    args: [{}],
  },
  {
    scheduleId: 'clean-up',
    workflowType: WORKFLOW_TYPES.cleanUp,
    taskQueue: TASK_QUEUES.orchestration,
    spec: { calendars: [{ hour: 3, minute: 20 }] },
  },
  {
    scheduleId: 'reconcile',
    workflowType: WORKFLOW_TYPES.reconcile,
    taskQueue: TASK_QUEUES.orchestration,
    spec: { intervals: [{ every: '5 minutes', offset: '150 seconds' }] },
  },
  {
    scheduleId: 'segments',
    workflowType: WORKFLOW_TYPES.segmentRefresh,
    taskQueue: TASK_QUEUES.orchestration,
    spec: { intervals: [{ every: '5 minutes' }] },
    args: [{}],
  },
];
