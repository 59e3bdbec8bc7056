/** Messages that take longer than this each are worth a trial; an urgent one waits about as long. */
const SLOW_MS = 200;
/** A trial compares what a server took in two spans of so long and so many messages. */
const WINDOW_MS = 2_000;
const WINDOW_MESSAGES = 30;
/** With fewer connections the server must take this share of what it took before. */
const KEPT = 0.93;
/** Until the same is tried again. */
const REST_MS = 60_000;

interface Trial {
  limitBefore: number;
  rateBefore: number;
  isNarrowing: boolean;
}

/**
 * Finds out how many connections to a server its campaigns need. A server that handles one message at a time takes no more
 * over twenty connections than over three, and an urgent message waits behind nineteen of them in the server's own queue.
 * So where messages take long, half of the connections are tried: when the server takes as many messages as before, it
 * stays at that. From time to time twice as many are tried, since the server may have become faster.
 */
export class QueueTrial {
  #limit = Infinity;
  #trial: Trial | undefined;
  #narrowsFrom = 0;
  #widensFrom = 0;
  #since = 0;
  #count = 0;
  #tookMs = 0;
  #most = 0;
  #lastMs = -Infinity;

  /** Connections to the server that may carry messages of campaigns. */
  get limit(): number {
    return this.#limit;
  }

  /**
   * The server has decided a message of a campaign.
   * @param tookMs since the one before it on the same connection
   * @param carrying connections to the server that carry messages of campaigns
   */
  decided(tookMs: number, carrying: number, nowMs: number): void {
    if (nowMs - tookMs > this.#lastMs + WINDOW_MS) this.#restart(nowMs);
    this.#lastMs = nowMs;
    // Messages that were on the wire before the limit changed are not counted.
    if (nowMs - tookMs < this.#since) return;
    this.#count += 1;
    this.#tookMs += tookMs;
    this.#most = Math.max(this.#most, carrying);
    const spanMs = nowMs - this.#since;
    if (spanMs < WINDOW_MS || this.#count < WINDOW_MESSAGES) return;
    const rate = (this.#count - 1) / spanMs;
    if (this.#trial) this.#conclude(this.#trial, rate, nowMs);
    else this.#try(rate, nowMs);
    this.#begin(nowMs);
  }

  /** Nothing was sent for a while, so spans cannot be compared. */
  #restart(nowMs: number): void {
    if (this.#trial) this.#limit = this.#trial.limitBefore;
    this.#trial = undefined;
    this.#begin(nowMs);
  }

  #begin(nowMs: number): void {
    [this.#since, this.#count, this.#tookMs, this.#most] = [nowMs, 0, 0, 0];
  }

  #try(rateBefore: number, nowMs: number): void {
    const isSlow = this.#tookMs / this.#count > SLOW_MS;
    const limitBefore = this.#limit;
    const isFull = limitBefore !== Infinity && this.#most >= limitBefore;
    if (isSlow && this.#most > 1 && nowMs >= this.#narrowsFrom) this.#limit = Math.floor(this.#most / 2);
    else if (isFull && nowMs >= this.#widensFrom) this.#limit = limitBefore * 2;
    else return;
    this.#trial = { limitBefore, rateBefore, isNarrowing: this.#limit < limitBefore };
  }

  #conclude({ limitBefore, rateBefore, isNarrowing }: Trial, rate: number, nowMs: number): void {
    this.#trial = undefined;
    const isBetter = isNarrowing ? rate >= rateBefore * KEPT : rate * KEPT >= rateBefore;
    if (!isBetter) this.#limit = limitBefore;
    this.#widensFrom = nowMs + REST_MS;
    // One step after the other, as long as they help.
    if (!isNarrowing || !isBetter) this.#narrowsFrom = nowMs + REST_MS;
  }
}
