import type { ScheduleDefinition } from './temporal-setup.ts';

/** Everything that runs by the clock. `everpost temporal setup` brings the namespace in line with this list. */
export const SCHEDULES: readonly ScheduleDefinition[] = [];
