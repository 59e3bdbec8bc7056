import type { OutboxBatch } from '../../shared/durable/outbox/outbox-claims.ts';
import type { SmtpUrgency } from '../../shared/sending/transport/smtp-pool.ts';

/** A delivery that accepts more emails. */
interface OpenDelivery {
  /** @returns whether the delivery has claimed the emails */
  take: (emailIds: string[]) => Promise<boolean>;
  /** After this the delivery accepts no more emails, and ends as soon as its own are sent. */
  close: () => void;
}

/** Which emails a delivery accepts: at most one delivery is open for each project and urgency. */
export interface DeliveryScope {
  projectId: string;
  urgency: SmtpUrgency;
}

/**
 * The deliveries under way in this process that accept more emails. An email that joins one costs Temporal nothing, and
 * is sent sooner than with a delivery of its own.
 */
export interface OpenDeliveries {
  /**
   * Offers a batch of the outbox to the open delivery of its project.
   * @returns whether that delivery has claimed its emails; if not, they need a delivery of their own
   */
  offer: (batch: Pick<OutboxBatch, 'kind' | 'projectId' | 'subjectIds'>) => Promise<boolean>;
  /**
   * Registers an open delivery.
   * @returns the function that removes it; undefined when the project has one already, or the most allowed are open
   */
  add: (scope: DeliveryScope, delivery: OpenDelivery) => (() => void) | undefined;
  /** Closes all open deliveries, before their worker stops. */
  closeAll: () => void;
}

/**
 * An open delivery occupies a slot of its worker while it waits for more emails, so only a quarter of the slots may be
 * open.
 */
const OPEN_MAX = { transactional: 2, automation: 2, campaign: 0 } as const satisfies Record<SmtpUrgency, number>;

/** The urgency of emails, by the kind of their outbox rows. */
const URGENCY_OF: Readonly<Record<string, SmtpUrgency>> = { email: 'transactional', automationEmail: 'automation' };

/** Creates the registry of a process, empty at first. */
export function createOpenDeliveries(): OpenDeliveries {
  const open: Record<SmtpUrgency, Map<string, OpenDelivery>> = {
    transactional: new Map(),
    automation: new Map(),
    campaign: new Map(),
  };

  return {
    async offer({ kind, projectId, subjectIds }) {
      const urgency = URGENCY_OF[kind];
      return (urgency && (await open[urgency].get(projectId)?.take(subjectIds))) ?? false;
    },
    add({ projectId, urgency }, delivery) {
      const byProject = open[urgency];
      if (byProject.size >= OPEN_MAX[urgency] || byProject.has(projectId)) return undefined;
      byProject.set(projectId, delivery);
      return () => {
        if (byProject.get(projectId) === delivery) byProject.delete(projectId);
      };
    },
    closeAll() {
      // Closing a delivery removes it, hence the copies.
      for (const byProject of Object.values(open)) {
        for (const delivery of [...byProject.values()]) delivery.close();
      }
    },
  };
}
