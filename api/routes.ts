import type { Config } from '../shared/platform/config.ts';
import { createCampaignEndpoints } from './campaigns/campaigns.routes.ts';
import { contactEndpoints } from './contacts/contacts.routes.ts';
import { eventEndpoints } from './events/events.routes.ts';
import type { Endpoint } from './http/endpoint.ts';
import { projectEndpoints } from './projects/projects.routes.ts';
import { createSendEndpoints } from './send/send.routes.ts';
import { templateEndpoints } from './templates/templates.routes.ts';
import { trackEndpoints } from './track/track.routes.ts';

/** The table of contents: every endpoint, in the order of the interface document. */
export function createEndpoints(config: Config): Endpoint[] {
  return [
    ...createSendEndpoints(config),
    ...trackEndpoints,
    ...contactEndpoints,
    ...templateEndpoints,
    ...createCampaignEndpoints(config),
    ...eventEndpoints,
    ...projectEndpoints,
  ];
}
