import { ActivityFailure, condition, defineSignal, isCancellation, setHandler, sleep } from '@temporalio/workflow';
import {
  EMAIL_RESCHEDULED_SIGNAL,
  type EmailDeliveryInput,
  type EmailRescheduled,
  type ScheduledEmailInput,
} from '../../shared/pure/workflow-contracts.ts';
import { reasonOf } from '../failure-reason.ts';
import { automationDelivery, database, transactionalDelivery } from '../proxies.ts';

function countOf(emailIds: string[]): string {
  return emailIds.length === 1 ? 'one email' : `${emailIds.length} emails`;
}

/** The result in the Temporal UI. It has counts only, because a history contains nothing of an email but its id. */
interface EmailDeliveryResult {
  /** Calls of `deliverEmails`; attempts repeated after a fault count once. */
  rounds: number;
  /** The number of emails by their final status. */
  emails: Record<string, number>;
}

function add(total: EmailDeliveryResult['emails'], counts: Record<string, number>): void {
  for (const [status, count] of Object.entries(counts)) total[status] = (total[status] ?? 0) + count;
}

const emailRescheduledSignal = defineSignal<[EmailRescheduled]>(EMAIL_RESCHEDULED_SIGNAL);

/** The moment of a scheduled email, which signals change. */
class Schedule {
  #dueAtMs: number;

  constructor(dueAtMs: number) {
    this.#dueAtMs = dueAtMs;
    setHandler(emailRescheduledSignal, (changed) => {
      this.#dueAtMs = changed.dueAtMs;
    });
  }

  /** Waits until the email is due, or has another moment, but at most `limitMs`. */
  async pause(limitMs: number, summary: string): Promise<void> {
    const seen = this.#dueAtMs;
    await condition(() => this.#dueAtMs !== seen, limitMs, { summary });
  }

  async untilDue(): Promise<void> {
    for (let waitMs = this.#waitMs(); waitMs > 0; waitMs = this.#waitMs()) {
      await this.pause(waitMs, `until ${new Date(this.#dueAtMs).toISOString()}`);
    }
  }

  #waitMs(): number {
    return this.#dueAtMs - Date.now();
  }
}

/** @param schedule that of the email, if it has one */
async function deliver(
  { projectId, emailIds, origin }: EmailDeliveryInput,
  schedule?: Schedule,
): Promise<EmailDeliveryResult> {
  const delivery = origin === 'automation' ? automationDelivery : transactionalDelivery;
  const result: EmailDeliveryResult = { rounds: 0, emails: {} };
  let remaining = emailIds;
  while (remaining.length > 0) {
    await schedule?.untilDue();
    result.rounds += 1;
    try {
      const { deferredIds, retryInMs, ended } = await delivery.deliverEmails.executeWithOptions(
        { summary: `deliver ${countOf(remaining)}` },
        [{ projectId, emailIds: remaining }],
      );
      add(result.emails, ended);
      remaining = deferredIds;
      if (remaining.length > 0 && retryInMs > 0) {
        const summary = `try ${countOf(remaining)} again that the server deferred`;
        await (schedule ? schedule.pause(retryInMs, summary) : sleep(retryInMs, { summary }));
      }
    } catch (error) {
      if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
      add(result.emails, await database.abandonEmails({ emailIds: remaining, reason: reasonOf(error) }));
      break;
    }
  }
  return result;
}

/**
 * Delivers transactional emails until each is sent, bounced or given up. Deferred email (4xx) is tried again after
 * growing pauses, which occupy no worker. Email that no server accepts for two days fails with the reason. Email of a
 * disabled project waits until the project is enabled.
 */
export function emailDelivery(input: EmailDeliveryInput): Promise<EmailDeliveryResult> {
  return deliver(input);
}

/**
 * As `emailDelivery`, for one email that waits for its moment first. It may wait for months, so it moves to newer
 * versions of the code.
 */
export function scheduledEmail(input: ScheduledEmailInput): Promise<EmailDeliveryResult> {
  return deliver(input, new Schedule(input.dueAtMs));
}
