import type { Express } from 'express';
import { linkSignerOf } from '../../shared/sending/compose/links.ts';
import type { ApiDeps } from '../http/context.ts';
import type { Load } from '../http/load.ts';
import { mountEmailViews } from './view.routes.ts';
import { mountConfirmationPages } from './confirm.routes.ts';
import { mountSubscriptionPages } from './subscription.routes.ts';
import { mountTracking } from './tracking.routes.ts';

/** Mounts what the signed links in emails lead to. It needs no key. */
export function mountFeedback(app: Express, deps: ApiDeps, load: Load): void {
  const links = linkSignerOf(deps.config);
  mountTracking(app, deps, links);
  mountSubscriptionPages(app, deps, links, load);
  mountConfirmationPages(app, deps, links, load);
  mountEmailViews(app, deps, links, load);
}
