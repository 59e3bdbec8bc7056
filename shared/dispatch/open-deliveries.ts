import type { SmtpUrgency } from '../platform/smtp/smtp-pool.ts';

/** Takes emails into a delivery. @returns whether it has claimed them */
type Take = (emailIds: string[]) => Promise<boolean>;

/** The emails that a delivery sends. */
export interface DeliveryPlace {
  projectId: string;
  urgency: SmtpUrgency;
}

/**
 * The deliveries of this process that are under way and take more emails. An email that joins one costs Temporal nothing,
 * and is on its way sooner than with a delivery of its own.
 */
export interface OpenDeliveries {
  /**
   * Offers emails that no delivery has yet to the open delivery of their project.
   * @returns whether it has claimed them; if not, they need a delivery of their own
   */
  offer: (place: DeliveryPlace, emailIds: string[]) => Promise<boolean>;
  /**
   * Opens a delivery to what `take` takes.
   * @returns what closes it; undefined when the project has an open delivery, or when as many are open as may be
   */
  open: (place: DeliveryPlace, take: Take) => (() => void) | undefined;
  /** Opens no more deliveries, and closes those that are open: the process is about to end. */
  stop: () => void;
}

/** An open delivery waits a little for more emails in a slot of its worker, so only a quarter of the slots may be open. */
const OPEN_MAX = { transactional: 2, automation: 2, campaign: 0 } as const satisfies Record<SmtpUrgency, number>;

export function createOpenDeliveries(): OpenDeliveries {
  let isStopped = false;
  const open: Record<SmtpUrgency, Map<string, Take>> = {
    transactional: new Map(),
    automation: new Map(),
    campaign: new Map(),
  };

  return {
    offer: async ({ projectId, urgency }, emailIds) => (await open[urgency].get(projectId)?.(emailIds)) ?? false,
    open({ projectId, urgency }, take) {
      const places = open[urgency];
      if (isStopped || places.size >= OPEN_MAX[urgency] || places.has(projectId)) return undefined;
      places.set(projectId, take);
      return () => {
        if (places.get(projectId) === take) places.delete(projectId);
      };
    },
    stop() {
      isStopped = true;
      for (const places of Object.values(open)) places.clear();
    },
  };
}
