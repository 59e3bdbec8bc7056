import type { SmtpUrgency } from '../platform/smtp/smtp-pool.ts';

/** A delivery that takes more emails. */
interface OpenDelivery {
  /** @returns whether it has claimed them */
  take: (emailIds: string[]) => Promise<boolean>;
  /** Takes no more, and ends as soon as those it has are sent. */
  close: () => void;
}

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
  /** @returns what takes the delivery off; undefined when its project has one, or when as many are open as may be */
  add: (place: DeliveryPlace, delivery: OpenDelivery) => (() => void) | undefined;
  /** Closes the open deliveries, because their worker is about to stop. */
  closeAll: () => void;
}

/** An open delivery waits a little for more emails in a slot of its worker, so only a quarter of the slots may be open. */
const OPEN_MAX = { transactional: 2, automation: 2, campaign: 0 } as const satisfies Record<SmtpUrgency, number>;

export function createOpenDeliveries(): OpenDeliveries {
  const open: Record<SmtpUrgency, Map<string, OpenDelivery>> = {
    transactional: new Map(),
    automation: new Map(),
    campaign: new Map(),
  };

  return {
    offer: async ({ projectId, urgency }, emailIds) => (await open[urgency].get(projectId)?.take(emailIds)) ?? false,
    add({ projectId, urgency }, delivery) {
      const ofKind = open[urgency];
      if (ofKind.size >= OPEN_MAX[urgency] || ofKind.has(projectId)) return undefined;
      ofKind.set(projectId, delivery);
      return () => {
        if (ofKind.get(projectId) === delivery) ofKind.delete(projectId);
      };
    },
    closeAll() {
      for (const ofKind of Object.values(open)) for (const delivery of [...ofKind.values()]) delivery.close();
    },
  };
}
