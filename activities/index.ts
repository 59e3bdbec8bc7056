import { createCampaignActivities } from './campaigns/campaign-activities.ts';
import type { ActivityDeps } from './deps.ts';
import { createEmailActivities } from './emails/email-activities.ts';
import { createMaintenanceActivities } from './maintenance/maintenance-activities.ts';

export type { ActivityDeps } from './deps.ts';

/** All activities by name; which of them a worker serves follows from its task queues. */
export function createActivities(deps: ActivityDeps) {
  return {
    ...createEmailActivities(deps),
    ...createCampaignActivities(deps),
    ...createMaintenanceActivities(deps),
  };
}
export type Activities = ReturnType<typeof createActivities>;
