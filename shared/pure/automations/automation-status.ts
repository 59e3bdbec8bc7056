/** The types of the steps that a caller adds. Every automation has its one TRIGGER step from the beginning. */
export const ADDED_STEP_TYPES = [
  'SEND_EMAIL',
  'DELAY',
  'WAIT_FOR_EVENT',
  'CONDITION',
  'WEBHOOK',
  'UPDATE_CONTACT',
  'EXIT',
] as const;

export const STEP_TYPES = ['TRIGGER', ...ADDED_STEP_TYPES] as const;
export type StepType = (typeof STEP_TYPES)[number];

export const TRIGGER_TYPES = ['EVENT', 'MANUAL'] as const;
export type TriggerType = (typeof TRIGGER_TYPES)[number];

export const BRANCHES = ['yes', 'no', 'event', 'timeout'] as const;
export type Branch = (typeof BRANCHES)[number];

export const EXECUTION_STATUSES = ['RUNNING', 'WAITING', 'COMPLETED', 'EXITED', 'FAILED', 'CANCELLED'] as const;
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number];

/** An execution in these statuses has not ended. The others are final, except that a FAILED one can be retried. */
export const ACTIVE_EXECUTION_STATUSES = ['RUNNING', 'WAITING'] as const satisfies readonly ExecutionStatus[];

export function hasEnded(status: ExecutionStatus): boolean {
  return !(ACTIVE_EXECUTION_STATUSES as readonly string[]).includes(status);
}

/** The statuses that an execution may move to, by its status. */
export const EXECUTION_TRANSITIONS: Record<ExecutionStatus, readonly ExecutionStatus[]> = {
  RUNNING: ['WAITING', 'COMPLETED', 'EXITED', 'FAILED', 'CANCELLED'],
  WAITING: ['RUNNING', 'COMPLETED', 'EXITED', 'FAILED', 'CANCELLED'],
  COMPLETED: [],
  EXITED: [],
  FAILED: ['RUNNING'],
  CANCELLED: [],
};

export type EndedExecutionStatus = Exclude<ExecutionStatus, (typeof ACTIVE_EXECUTION_STATUSES)[number]>;

export const STEP_EXECUTION_STATUSES = ['PENDING', 'RUNNING', 'WAITING', 'COMPLETED', 'SKIPPED', 'FAILED'] as const;
export type StepExecutionStatus = (typeof STEP_EXECUTION_STATUSES)[number];
