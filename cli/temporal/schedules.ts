import { TASK_QUEUES } from '../../shared/pure/task-queues.ts';
import { WORKFLOW_TYPES, type ReconcileInput } from '../../shared/pure/workflow-contracts.ts';
import type { ScheduleDefinition } from './setup.ts';

const reconcileSoon: ReconcileInput = { reach: 'soon' };

/**
 * All schedules. `everpost temporal setup` brings the namespace in line with this list. The jitter keeps several
 * installations on one cluster from starting together. A run is for all projects, so it has no search attribute of
 * Everpost.
 */
export const SCHEDULES: readonly ScheduleDefinition[] = [
  {
    scheduleId: 'domain-checks',
    workflowType: WORKFLOW_TYPES.domainChecks,
    taskQueue: TASK_QUEUES.orchestration,
    summary: 'check sender domains in DNS',
    spec: { intervals: [{ every: '5 minutes' }], jitter: '20 seconds' },
    args: [{}],
  },
  {
    scheduleId: 'clean-up',
    workflowType: WORKFLOW_TYPES.cleanUp,
    taskQueue: TASK_QUEUES.orchestration,
    summary: 'remove what is kept only for a while',
    spec: { calendars: [{ hour: 3, minute: 20 }], jitter: '30 minutes' },
  },
  {
    scheduleId: 'tls-reports',
    workflowType: WORKFLOW_TYPES.tlsReports,
    taskQueue: TASK_QUEUES.orchestration,
    summary: 'report about TLS to the domains that ask for it',
    spec: { intervals: [{ every: '6 hours', offset: '1 hour' }], jitter: '1 hour' },
  },
  {
    scheduleId: 'reconcile',
    workflowType: WORKFLOW_TYPES.reconcile,
    taskQueue: TASK_QUEUES.orchestration,
    summary: 'restart everything late that Temporal has lost',
    spec: { intervals: [{ every: '5 minutes', offset: '150 seconds' }], jitter: '20 seconds' },
  },
  {
    scheduleId: 'reconcile-soon',
    workflowType: WORKFLOW_TYPES.reconcile,
    taskQueue: TASK_QUEUES.orchestration,
    summary: 'restart what is due and Temporal has lost',
    spec: { intervals: [{ every: '30 seconds' }], jitter: '5 seconds' },
    args: [reconcileSoon],
  },
  {
    scheduleId: 'segments',
    workflowType: WORKFLOW_TYPES.segmentRefresh,
    taskQueue: TASK_QUEUES.orchestration,
    summary: 'count and compute segments',
    spec: { intervals: [{ every: '5 minutes' }], jitter: '20 seconds' },
    args: [{}],
  },
];
