import { randomUUID } from 'node:crypto';
import { withTimeLimit } from '../platform/time-limit.ts';
import type { Hold } from '../pure/emails/hold.ts';
import { createLargeMessages } from './large-messages.ts';
import { sendEmails, type LoopOptions, type LoopParts, type UnmadeMessages } from './loop.ts';
import { SLICE_SECONDS } from './permit/booking.ts';
import type {
  CarriedEmails,
  Claim,
  DeliveryResult,
  EmailBatch,
  EmailPart,
  EmailSource,
  ResultSink,
  Speed,
} from './ports.ts';
import { createResultBuffer, type ResultBuffer } from './results/result-buffer.ts';
import { acceptedResult, type ResultSpool } from './results/result-spool.ts';
import type { LineFile } from './results/spool-folder.ts';
import { SlotOfAttempt, type SlotsByUrgency } from './sending-slots.ts';
import type { SmtpUrgency } from './transport/smtp-pool.ts';
import { isPutOff } from './verdict/delivery-result.ts';

/** What an attempt has recorded. */
export interface Recorded {
  /** The number of results. */
  count: number;
  sent: number;
  /** The number of emails that are tried again. */
  putOff: number;
  /** Why emails wait, if some do. */
  hold?: Hold;
  /** No more messages of the claim may be sent. */
  isStopped: boolean;
  /** Why the attempt must be repeated, if it must: a message could not be composed, or the speed is used up. */
  again?: Error;
}

interface Kept {
  /** Whether results were kept that could not be recorded. */
  isKept: boolean;
}

/** One attempt of the caller at the emails of a source. */
export interface Attempt {
  /** Aborted when the attempt must end. */
  signal: AbortSignal;
  /** Reports that results were recorded. */
  advance: (recorded: Recorded) => void;
  /** Reports that PostgreSQL makes the attempt wait, with its error. */
  wait: (error: unknown) => void;
  /** Whether no attempt follows this one because of an error. */
  isLastAttempt: (error: unknown) => boolean;
  /** What attempts before this one could not record; it reaches the next attempt on any machine. */
  carried: { get: () => CarriedEmails[] | undefined; set: (carried: CarriedEmails[] | undefined) => void };
  /** The speed of the project; missing without a limit. */
  speed?: Speed | undefined;
  onClaimed?: () => void;
}

export interface SenderOptions<C extends Claim> extends LoopParts {
  sink: ResultSink<C>;
  spool: ResultSpool<C>;
  slots: SlotsByUrgency;
}

/** Brings the emails of a source to servers, and their results to the sink. */
export type Sender<C extends Claim> = (source: EmailSource<C>, attempt: Attempt) => Promise<Recorded>;

/**
 * Results per recording. It takes a fifth less processor time than 64. A killed process loses as many results; see
 * `createResultBuffer`.
 */
const RESULTS_MAX = 128;
/**
 * The longest wait of a result. A page of a campaign that shares the worker with three others has RESULTS_MAX results in
 * its time; a slower page loses fewer when the process is killed.
 */
const RESULTS_AGE_MS = { transactional: 50, automation: 50, campaign: 100 } as const;

/**
 * Records what earlier attempts of the caller have carried. A carried result is the id of an email that a server
 * accepted: it holds no address and no words of a server.
 */
async function recordCarried<C extends Claim>(
  { sink }: SenderOptions<C>,
  source: EmailSource<C>,
  { carried }: Attempt,
): Promise<void> {
  const all = carried.get();
  if (!all) return;
  for (const { claimToken, emailIds } of all) {
    await sink.record(source.claimWith(claimToken), emailIds.map(acceptedResult));
  }
  carried.set(undefined);
}

/** Carries the emails that servers accepted to the next attempt. The others are tried again. */
function carry({ carried }: Attempt, claimToken: string, results: readonly DeliveryResult[]): void {
  const emailIds = results.filter(({ verdict }) => verdict === 'sent').map(({ emailId }) => emailId);
  if (emailIds.length > 0) carried.set([...(carried.get() ?? []), { claimToken, emailIds }]);
}

/** Creates the buffer that brings the results of an attempt to the sink, or keeps them, and notes that. */
function bufferFor<C extends Claim>(
  { sink, spool, sandbox }: SenderOptions<C>,
  urgency: SmtpUrgency,
  attempt: Attempt,
  claim: C,
  { recorded, sent }: { recorded: Recorded & Kept; sent: LineFile },
): ResultBuffer {
  return createResultBuffer({
    onSent: sent.add,
    maxItems: RESULTS_MAX,
    maxAgeMs: RESULTS_AGE_MS[urgency],
    signal: attempt.signal,
    onWait(error, ended) {
      attempt.wait(error);
      spool.hold(claim.scope, ended);
    },
    async record(results) {
      const { mayContinue } = await sink.record(claim, results);
      if (!mayContinue) recorded.isStopped = true;
      recorded.count += results.length;
      recorded.sent += results.filter(({ verdict }) => verdict === 'sent').length;
      recorded.putOff += results.filter(isPutOff).length;
      // A deferral concerns its email alone.
      const held = results.findLast((result) => result.held && result.held.reason !== 'deferred')?.held;
      if (held) recorded.hold = held;
      sandbox.noteRecorded(results);
      attempt.advance(recorded);
    },
    async keep(results) {
      recorded.isKept = true;
      carry(attempt, claim.claimToken, results);
      await spool.keep({ claim, results });
    },
  });
}

/**
 * A batch waits briefly for emails that traffic rules keep back. Some wait longer, so that rules are used fully: the only
 * page of a campaign for as long as several rounds, which lose a second between them. Others keep back those beside them.
 */
const LINGER_MS = { brief: 300, long: 4_000, all: 60_000 } as const;
/** The most attempts that may wait longer. They leave slots of the worker to other mail. */
const LINGERING_MAX = { transactional: 4, automation: 4, campaign: 3 } as const satisfies Record<SmtpUrgency, number>;

/** A part at the speed of a project has this time. One that takes longer has an email at a host that is slow or silent. */
const SLICE_MS = SLICE_SECONDS * 1_000;
const SLOW_PART_MS = SLICE_MS + 5_000;

/**
 * Sends emails at the speed of the project: one part, and further ones while a host is silent for those before.
 * @param sendPart tells whether more may be sent
 * @returns the error that repeats the attempt for the rest
 */
async function sendAtSpeed<C extends Claim>(
  source: EmailSource<C>,
  speed: Speed,
  sendPart: (part: EmailPart, pace: LoopOptions['pace']) => Promise<boolean>,
): Promise<Error | undefined> {
  const parts: Promise<boolean>[] = [];
  let [running, rest] = [0, 0];
  try {
    for await (const part of source.parts(speed.size())) {
      const isSlow = running > 0;
      const pace = part.paced > 0 ? await speed.take(part.paced, isSlow) : undefined;
      running += 1;
      const sending = sendPart(part, pace).finally(() => (running -= 1));
      parts.push(sending);
      const mayContinue = await withTimeLimit(sending, isSlow ? SLICE_MS : SLOW_PART_MS, () => true);
      rest = part.left;
      if (running === 0 || !mayContinue) break;
    }
  } finally {
    await Promise.allSettled(parts);
  }
  const mayContinue = (await Promise.all(parts)).every(Boolean);
  return mayContinue && rest > 0 ? speed.next(rest) : undefined;
}

/** What all batches of an attempt have in common. */
type BatchOptions = Omit<LoopOptions, 'lingerMs' | 'again' | 'isAll'>;

/** Records the remaining results. If that fails, the next attempt needs the list of accepted emails. */
async function drain(buffer: ResultBuffer, sent: LineFile): Promise<void> {
  let isKept = true;
  try {
    await buffer.drain();
    isKept = false;
  } finally {
    sent.end(isKept);
  }
}

/** Creates the sender of a process. */
export function createSender<C extends Claim>(options: SenderOptions<C>): Sender<C> {
  const { spool, sandbox, pool, slots } = options;
  const takeMemory = createLargeMessages();
  /** Attempts at pages. Those that do more than wait share the connections: more in flight would only wait in memory. */
  let pagesAtWork = 0;
  const lingering = { transactional: 0, automation: 0, campaign: 0 };

  async function sendBatch(batch: EmailBatch, loop: BatchOptions): Promise<void> {
    const { urgency } = loop;
    const sharing = urgency === 'campaign' ? Math.max(1, pagesAtWork - slots.campaign.lent) : 1;
    const share = Math.ceil(pool.capacity / sharing);
    const [atOnce, release] = batch.memory ? await takeMemory(batch.memory) : [share, () => undefined];
    const mayLinger = lingering[urgency] < LINGERING_MAX[urgency];
    if (mayLinger) lingering[urgency] += 1;
    const lingerMs = mayLinger ? LINGER_MS[batch.isAll ? 'all' : 'long'] : LINGER_MS.brief;
    try {
      await sendEmails(await batch.load(), Math.min(atOnce, batch.size), {
        ...loop,
        lingerMs,
        again: batch.again,
        isAll: batch.isAll,
      });
    } finally {
      if (mayLinger) lingering[urgency] -= 1;
      release();
    }
  }

  /** @returns whether more may be sent */
  async function sendPart({ batches }: EmailPart, loop: BatchOptions): Promise<boolean> {
    for (const batch of batches) await sendBatch(batch, loop);
    return !loop.shouldStop() && !loop.signal.aborted;
  }

  /** @returns the error that repeats the attempt for the rest, if there is one */
  async function sendParts(source: EmailSource<C>, loop: BatchOptions, speed?: Speed): Promise<Error | undefined> {
    if (speed) return sendAtSpeed(source, speed, (part, pace) => sendPart(part, { ...loop, pace }));
    for await (const part of source.parts()) if (!(await sendPart(part, loop))) break;
    return undefined;
  }

  /**
   * Records what earlier attempts could not, claims the emails, sends them and records the results. Results that cannot
   * be recorded while PostgreSQL is away are kept, and delivered once by whoever can do it first.
   * @throws SmtpUnavailableError, MemoryBusyError, or the error of a port
   */
  return async function send(source, attempt) {
    const { signal } = attempt;
    const claim = source.claimWith(randomUUID());
    await spool.settle(claim.scope);
    await recordCarried(options, source, attempt);
    await source.claim(claim);
    attempt.onClaimed?.();
    const recorded: Recorded & Kept = { count: 0, sent: 0, putOff: 0, isStopped: false, isKept: false };
    const sent = spool.begin(claim);
    const buffer = bufferFor(options, source.urgency, attempt, claim, { recorded, sent });
    const unmade: UnmadeMessages = { isLastAttempt: attempt.isLastAttempt, causes: [] };
    const { urgency } = source;
    const { projectId } = claim;
    const shouldStop = (): boolean => recorded.isStopped;
    const loop = {
      ...options,
      unmade,
      urgency,
      projectId,
      buffer,
      signal,
      shouldStop,
      traceOf: source.traceOf,
      slot: new SlotOfAttempt(slots[urgency]),
    };
    if (urgency === 'campaign') pagesAtWork += 1;
    let rest: Error | undefined;
    try {
      rest = await sendParts(source, loop, attempt.speed);
    } finally {
      if (urgency === 'campaign') pagesAtWork -= 1;
      await drain(buffer, sent);
      // A release would make the kept results worthless. The next attempt claims the emails as they are.
      if (!recorded.isKept) await source.release?.(recorded.count);
      await sandbox.followUp();
    }
    const [again = rest] = unmade.causes;
    return { ...recorded, ...(again && { again }) };
  };
}
