import { createSender, type Recorded, type SenderOptions } from '../../shared/sending/sender.ts';
import { createSendingSlots, type SlotsByUrgency } from '../../shared/sending/sending-slots.ts';
import type {
  CarriedEmails,
  Claim,
  DeliveryResult,
  EmailBatch,
  EmailSource,
  EmailToSend,
  Speed,
} from '../../shared/sending/ports.ts';
import { acceptedResult, type KeptResults } from '../../shared/sending/results/result-spool.ts';
import type { SmtpOutcome, SmtpPool } from '../../shared/sending/transport/smtp-pool.ts';
import { useFakeClock, type FakeClock } from './fake-clock.ts';

export const ACCEPTED: SmtpOutcome = { kind: 'accepted', reply: '250 2.0.0 Queued' };

/** An outcome that comes when the test says so. */
interface Sending {
  to: string;
  /** Tells the loop that the host is silent. */
  silence: () => Promise<void>;
  end: (outcome: SmtpOutcome | Error) => Promise<void>;
}

export const NOT_TRIED = { subject: null, deferrals: 0, uncertainAttempts: 0, heldAt: null, answered: null };

export function mailTo(emailId: string, more: Partial<EmailToSend> = {}): EmailToSend {
  return {
    emailId,
    ...NOT_TRIED,
    envelope: { from: 'hello@example.com', to: `${emailId}@mail.test` },
    compose: () => ({}) as never,
    ...more,
  };
}

export interface AttemptOptions {
  emails?: EmailToSend[];
  batches?: EmailBatch[];
  capacity?: number;
  /** What the sink does with a recording; by default, it takes it. */
  record?: (results: DeliveryResult[]) => Promise<{ mayContinue: boolean }>;
  permit?: Partial<SenderOptions<Claim>['permit']>;
  /** What the pool answers; by default, the test decides for each email. */
  answer?: (to: string) => SmtpOutcome | Error;
  isLastAttempt?: boolean;
  carried?: CarriedEmails[];
  speed?: Speed;
  urgency?: EmailSource<Claim>['urgency'];
  slots?: SlotsByUrgency;
}

const NO_LIST = { add: () => undefined, end: () => undefined };

/** A pool whose answers the test decides. @param wire where it puts the emails that wait for an answer */
function fakePool(pass: FakeClock['pass'], wire: Sending[], { capacity = 10, answer }: AttemptOptions): SmtpPool {
  return {
    capacity,
    send: ({ to }, _raw, { onSilence } = {}) =>
      new Promise((resolve, reject) => {
        const settle = (outcome: SmtpOutcome | Error): void =>
          outcome instanceof Error ? reject(outcome) : resolve(outcome);
        if (answer) settle(answer(to));
        else {
          const silence = () => (onSilence?.(), pass());
          wire.push({ to, silence, end: (outcome) => (settle(outcome), pass()) });
        }
      }),
  } as Partial<SmtpPool> as SmtpPool;
}

function partsOf(emails: EmailToSend[], all?: EmailBatch[]): EmailSource<Claim>['parts'] {
  return async function* (limit = Infinity) {
    for (let start = 0; start === 0 || start < emails.length; start += limit) {
      const part = emails.slice(start, start + limit);
      const batches = all ?? [{ size: part.length, load: () => part }];
      yield { paced: part.length, left: emails.length - start - part.length, batches };
    }
  };
}

/** Some emails of which everything around the sender is a fake, and the first attempt at them. */
function createTest(pass: FakeClock['pass'], { emails = [], urgency = 'transactional', ...options }: AttemptOptions) {
  const log: string[] = [];
  const recorded: DeliveryResult[] = [];
  const kept: KeptResults<Claim>[] = [];
  const wire: Sending[] = [];
  const stopping = new AbortController();
  let { carried } = options;
  const pool = fakePool(pass, wire, options);
  const permit: SenderOptions<Claim>['permit'] = {
    ready: async () => undefined,
    ask: async ({ projectId, recipient }) => ({ projectId, recipient, provider: recipient.split('@')[1] ?? '' }),
    settle: () => ({}),
    abandon: ({ provider }) => void log.push(`abandoned ${provider}`),
    watch: () => () => undefined,
    unreachable: () => {
      throw new Error('not expected');
    },
    ...options.permit,
  };
  const send = createSender<Claim>({
    pool,
    permit,
    retrySeconds: [10],
    slots: options.slots ?? createSendingSlots(),
    metrics: { note: () => undefined, relayUnavailable: () => void log.push('counted as unavailable') } as never,
    sandbox: {
      answer: ({ emailId }, to) => (to.startsWith('sandbox') ? acceptedResult(emailId) : undefined),
      noteRecorded: () => undefined,
      followUp: async () => void log.push('followed up'),
    },
    sink: {
      async record(claim, results) {
        log.push(`recorded ${results.map(({ emailId }) => emailId).join(' ')}`);
        const outcome = await (options.record?.(results) ?? { mayContinue: true });
        recorded.push(...results);
        return outcome;
      },
    },
    spool: {
      begin: () => NO_LIST,
      keep: async (results) => void kept.push(results),
      hold: (scope) => void log.push(`held ${scope}`),
      settle: async (scope) => void log.push(`settled ${scope}`),
      recordAll: () => undefined,
    },
  });
  const source: EmailSource<Claim> = {
    urgency,
    claimWith: (claimToken) => ({ scope: 'scope', claimToken, projectId: 'p' }),
    claim: async () => void log.push('claimed'),
    parts: partsOf(emails, options.batches),
    traceOf: () => undefined,
    release: async (decided) => void log.push(`released after ${decided}`),
  };
  function attempt(): Promise<Recorded> {
    const sent = send(source, {
      signal: stopping.signal,
      advance: () => undefined,
      wait: () => void log.push('waits for PostgreSQL'),
      isLastAttempt: () => options.isLastAttempt ?? false,
      carried: { get: () => carried, set: (value) => (carried = value) },
      speed: options.speed,
    });
    sent.catch(() => undefined);
    return sent;
  }
  return {
    log,
    kept,
    wire,
    attempt,
    sent: attempt(),
    verdicts: () => Object.fromEntries(recorded.map(({ emailId, verdict }) => [emailId, verdict])),
    carried: () => carried?.flatMap(({ emailIds }) => emailIds),
    stop: () => (stopping.abort(), pass()),
  };
}

/** Creates attempts by a clock that the tests move. */
export function useFakeAttempts() {
  const { pass } = useFakeClock();
  /** Lets time pass until the attempt ends. */
  async function ended(test: { sent: Promise<Recorded> }, ms = 1_000): Promise<Recorded> {
    await pass(ms);
    return test.sent;
  }

  return { createTest: (options: AttemptOptions) => createTest(pass, options), ended, pass };
}
