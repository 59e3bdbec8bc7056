import { remainingMs, type Hold } from '../pure/emails/hold.ts';
import type { Postponement } from './permit/question.ts';
import type { BatchWaits, Emails, EmailToSend, PreparedEmail } from './ports.ts';
import { Postponed } from './postponed.ts';

/** An email that a traffic rule keeps back. */
interface KeptBack {
  email: PreparedEmail;
  hold: Postponement['hold'];
}

/**
 * So many emails of a batch may wait in memory for one traffic rule, or those of a second where it lets more go, and so
 * many for all. Others are held, and loaded again when they are due.
 */
const KEPT_BACK = { ofRule: 100, ofAll: 500 };
/** How soon emails are loaded again at the earliest, in milliseconds. */
const AGAIN_MS = 1_000;
/**
 * How long emails wait in memory, in milliseconds, while others of the batch are on their way: the batch cannot end
 * before these, and a host may be silent for minutes. Rules of a second and a minute leave room within it.
 */
const BESIDE_OTHERS_MS = 60_000;

/**
 * Creates the function that takes the next email, for all lanes; it answers undefined after the last one. An async
 * generator would do the same, but it links each request to the next one, so that all emails live until the garbage
 * collector visits the old generation.
 */
function takerOf(emails: Emails): () => Promise<EmailToSend | undefined> {
  const slices = Symbol.asyncIterator in emails ? emails[Symbol.asyncIterator]() : [emails].values();
  let slice: Iterator<EmailToSend> = [].values();
  let loading: Promise<boolean> | undefined;
  async function loadSlice(): Promise<boolean> {
    const next = await slices.next();
    if (next.done) return false;
    slice = next.value[Symbol.iterator]();
    loading = undefined;
    return true;
  }
  return async () => {
    for (;;) {
      const next = slice.next();
      if (!next.done) return next.value;
      loading ??= loadSlice();
      if (!(await loading)) return undefined;
    }
  };
}

/** The emails of a batch, which are read again when some that were held are due while the batch has not ended. */
class Reading {
  /** Whether all emails were read once. */
  isRead = false;
  /** Whether there were more emails than could wait in memory since they were last read. */
  isBehind = false;
  /** The rules for which there were more, each with the number of emails that may wait for it. */
  readonly full = new Map<string, number>();
  readonly #again: BatchWaits['again'];
  #take: () => Promise<EmailToSend | undefined>;
  #isOver = false;
  #readMs = performance.now();
  /** The emails that were taken, without those that were held. */
  readonly #taken = new Set<string>();
  /** When those are due that were held. */
  #dueMs: number[] = [];

  constructor(emails: Emails, again: BatchWaits['again']) {
    this.#take = takerOf(emails);
    this.#again = again;
  }

  /** Milliseconds until emails are read; Infinity when there are none. */
  get waitMs(): number {
    if (!this.#isOver) return 0;
    if (!this.#again) return Infinity;
    return Math.max(this.#readMs + AGAIN_MS, Math.min(...this.#dueMs)) - performance.now();
  }

  /** The next email; undefined when there is none now. */
  async next(): Promise<EmailToSend | undefined> {
    if (this.waitMs > 0) return undefined;
    if (this.#isOver && this.#again) {
      // By the clock of the database some may be due a moment later, so each is looked for twice.
      this.#dueMs = this.#dueMs.filter((ms) => ms > this.#readMs);
      [this.#readMs, this.#isOver, this.isBehind] = [performance.now(), false, false];
      this.full.clear();
      this.#take = takerOf(this.#again((emailId) => this.#taken.has(emailId)));
    }
    const take = this.#take;
    const email = await take();
    if (email && this.#again) this.#taken.add(email.emailId);
    // Others may have begun to read again.
    if (!email && take === this.#take) this.#isOver = this.isRead = true;
    return email;
  }

  /** Notes that an email is held, once that is recorded. */
  held(emailId: string, hold: Hold): void {
    this.#taken.delete(emailId);
    const waitMs = remainingMs(hold, Date.now());
    if (this.#again && waitMs < BESIDE_OTHERS_MS) this.#dueMs.push(performance.now() + waitMs);
  }
}

export interface PatientOptions extends BatchWaits {
  emails: Emails;
  /** How long they may wait at the end for a rule. */
  lingerMs: number;
  signal: AbortSignal;
  /** Whether no more email may be sent. */
  isStopped: () => boolean;
  /** Whether an email of the batch is on its way. */
  isSending: () => boolean;
  /** Notes that an email is held. `recorded` is called when that is recorded. */
  hold: (email: PreparedEmail, hold: Hold, recorded: () => void) => void;
}

/** The emails of a batch in the order in which they may go: those that a rule keeps back wait while others go. */
export class PatientEmails {
  readonly #options: PatientOptions;
  readonly #reading: Reading;
  readonly #postponed: Postponed<KeptBack>;
  /** Until when the batch waits at its end. */
  #endsMs: number | undefined;

  constructor(options: PatientOptions) {
    this.#options = options;
    this.#reading = new Reading(options.emails, options.again);
    this.#postponed = new Postponed(options.signal);
  }

  /**
   * Takes the next email: one that was kept back and may go now, or else one that is read. At the end it waits for those
   * that were kept back, then holds the others.
   */
  async next(): Promise<EmailToSend | undefined> {
    const { isStopped, isSending, lingerMs } = this.#options;
    const [reading, postponed] = [this.#reading, this.#postponed];
    for (;;) {
      const due = postponed.takeDue();
      if (due) return due.email;
      // What is read again can only wait for those in memory.
      if (!reading.isRead || this.#hasRoom) {
        const email = await reading.next();
        if (email) return email;
      }
      this.#endsMs ??= performance.now() + lingerMs;
      // A lane that is busy takes back what it could not send.
      if (isStopped()) return undefined;
      if (!this.#hasRoom) reading.isBehind = true;
      const againMs = this.#hasRoom && this.#isWorthReading ? reading.waitMs : Infinity;
      if (againMs === Infinity && postponed.size <= postponed.waiting) {
        // Those that wait have less patience once nothing is on its way.
        if (!isSending()) postponed.wake();
        return undefined;
      }
      const patienceMs = isSending() ? BESIDE_OTHERS_MS : this.#endsMs - performance.now();
      if (Math.min(againMs, postponed.waitMs) >= patienceMs) {
        for (const { email, hold } of postponed.takeAll()) this.hold(email, hold(email.emailId));
        return undefined;
      }
      await postponed.wait(againMs);
    }
  }

  /** Lets an email wait that may not go now. */
  putOff(email: PreparedEmail, answer: Hold | Postponement): void {
    if ('until' in answer) {
      this.hold(email, answer);
      return;
    }
    const most = Math.max(KEPT_BACK.ofRule, answer.perSecond);
    const hasRoom = this.#hasRoomFor(answer.key, most);
    if (answer.waitMs < BESIDE_OTHERS_MS && hasRoom) this.#postponed.add(answer, { email, hold: answer.hold });
    else {
      if (!hasRoom) this.#reading.full.set(answer.key, most);
      this.#reading.isBehind ||= !hasRoom;
      this.hold(email, answer.hold(email.emailId));
    }
  }

  hold(email: PreparedEmail, hold: Hold): void {
    this.#options.hold(email, hold, () => this.#reading.held(email.emailId, hold));
  }

  /** Makes emails due that wait for a rule, because there is room again. */
  free(key: string): void {
    this.#postponed.free(key);
  }

  /** Ends all waits. */
  wake(): void {
    this.#postponed.wake();
  }

  /** Whether emails are read again: while the batch cannot end, or for a backlog, if no other emails wait for its end. */
  get #isWorthReading(): boolean {
    const { isAll = false, isSending } = this.#options;
    const { isBehind, waitMs } = this.#reading;
    return isSending() || (isAll && isBehind && waitMs < AGAIN_MS);
  }

  #hasRoomFor(key: string, most: number): boolean {
    return this.#postponed.sizeOf(key) < most && this.#postponed.size < Math.max(KEPT_BACK.ofAll, most);
  }

  /** Whether emails that are read again may find room. */
  get #hasRoom(): boolean {
    const { full } = this.#reading;
    if (full.size === 0) return this.#postponed.size < KEPT_BACK.ofAll;
    return [...full].some(([key, most]) => this.#hasRoomFor(key, most));
  }
}
