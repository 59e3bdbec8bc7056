import { advanceOptIn } from '../../shared/domain/opt-ins/advance.ts';
import { withHeartbeat } from '../../shared/durable/attempts/heartbeat.ts';
import type { OptInInput, OptInOutcome } from '../../shared/pure/workflow-contracts.ts';
import { createEmailCompiler } from '../../shared/sending/compose/compiled-email.ts';
import type { ActivityDeps } from '../deps.ts';

/** Activities of the workflow `optIn`. */
export function createOptInActivities(deps: ActivityDeps) {
  const mail = { links: deps.links, compileEmail: createEmailCompiler() };

  return {
    /** Does what is due at a time of the workflow, in milliseconds since 1970. Another call does nothing twice. */
    async advanceOptIn({ optInId, asOfMs }: OptInInput & { asOfMs: number }): Promise<OptInOutcome> {
      return withHeartbeat(deps, () => advanceOptIn(deps.orm.em.fork(), optInId, new Date(asOfMs), mail));
    },
  };
}
