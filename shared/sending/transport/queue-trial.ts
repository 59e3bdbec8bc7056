/** A trial starts only when a message takes longer than this; an urgent message waits about as long. */
const SLOW_MS = 200;
/** A trial compares the messages that a server took in two spans of at least this time and this number of messages. */
const WINDOW_MS = 2_000;
const WINDOW_MESSAGES = 30;
/** With fewer connections the server must keep this share of its rate. */
const RATE_KEPT_MIN = 0.93;
/** The time until the same trial is repeated. */
const REST_MS = 60_000;

interface Trial {
  limitBefore: number;
  rateBefore: number;
  isNarrowing: boolean;
}

/**
 * Finds out how many connections a server needs for campaigns. A server that handles one message at a time is no faster
 * with twenty connections than with three. An urgent message then waits behind nineteen others in the queue of the
 * server. So when messages take long, half of the connections are tried. If the server takes as many messages as
 * before, it keeps that number. From time to time twice as many are tried, because the server may have become faster.
 */
export class QueueTrial {
  #limit = Infinity;
  #trial: Trial | undefined;
  #narrowsFrom = 0;
  #widensFrom = 0;
  #since = 0;
  #count = 0;
  #tookMs = 0;
  #carryingMax = 0;
  #lastMs = -Infinity;

  /** Connections to the server that may carry messages of campaigns. */
  get limit(): number {
    return this.#limit;
  }

  /**
   * Notes that the server has decided a message of a campaign.
   * @param tookMs since the message before it on the same connection
   * @param carrying connections to the server that carry messages of campaigns
   */
  decided(tookMs: number, carrying: number, nowMs: number): void {
    if (nowMs - tookMs > this.#lastMs + WINDOW_MS) this.#restart(nowMs);
    this.#lastMs = nowMs;
    // Messages that were on the wire before the limit changed are not counted.
    if (nowMs - tookMs < this.#since) return;
    this.#count += 1;
    this.#tookMs += tookMs;
    this.#carryingMax = Math.max(this.#carryingMax, carrying);
    const spanMs = nowMs - this.#since;
    if (spanMs < WINDOW_MS || this.#count < WINDOW_MESSAGES) return;
    const rate = (this.#count - 1) / spanMs;
    if (this.#trial) this.#conclude(this.#trial, rate, nowMs);
    else this.#try(rate, nowMs);
    this.#startSpan(nowMs);
  }

  /** Drops a trial after a break in sending, because its spans cannot be compared. */
  #restart(nowMs: number): void {
    if (this.#trial) this.#limit = this.#trial.limitBefore;
    this.#trial = undefined;
    this.#startSpan(nowMs);
  }

  #startSpan(nowMs: number): void {
    this.#since = nowMs;
    this.#count = 0;
    this.#tookMs = 0;
    this.#carryingMax = 0;
  }

  #try(rateBefore: number, nowMs: number): void {
    const isSlow = this.#tookMs / this.#count > SLOW_MS;
    const limitBefore = this.#limit;
    const isFull = limitBefore !== Infinity && this.#carryingMax >= limitBefore;
    if (isSlow && this.#carryingMax > 1 && nowMs >= this.#narrowsFrom) this.#limit = Math.floor(this.#carryingMax / 2);
    else if (isFull && nowMs >= this.#widensFrom) this.#limit = limitBefore * 2;
    else return;
    this.#trial = { limitBefore, rateBefore, isNarrowing: this.#limit < limitBefore };
  }

  #conclude({ limitBefore, rateBefore, isNarrowing }: Trial, rate: number, nowMs: number): void {
    this.#trial = undefined;
    const isBetter = isNarrowing ? rate >= rateBefore * RATE_KEPT_MIN : rate * RATE_KEPT_MIN >= rateBefore;
    if (!isBetter) this.#limit = limitBefore;
    this.#widensFrom = nowMs + REST_MS;
    // A narrowing that helped is followed by the next one at once.
    if (!isNarrowing || !isBetter) this.#narrowsFrom = nowMs + REST_MS;
  }
}
