import { RATE_MS } from '../../pure/traffic-rules.ts';
import { ON_ITS_WAY_MS } from './allowance.ts';

/** A second of a rate is this much longer, because two clocks tell it. */
const SECOND_MS = RATE_MS.perSecond + 10;
/** A second of a rate has so many parts of its own. */
const BURSTS = 5;
/** A message that is answered later than others may have arrived so much later than these, at most. */
const LATE_MS = 1_000;
/** The fastest answer is known after so long, and so many answers. All of fewer may be late. */
const WATCHED = { ms: 5_000, answers: 10 };

/**
 * What this process uses of a rate per second. A message counts from its permit until a second after it has arrived. When
 * that was, only the answer tells: what a busy machine held back arrives together.
 */
export class PerSecond {
  /** When those were taken that are on their way to the wire. */
  #takenMs: number[] = [];
  /** When the latest ones went on the wire. */
  #begunMs: number[] = [];
  /** When those did that are not answered. */
  #unansweredMs: number[] = [];
  /** When the latest messages arrived, as far as is known, in this order. */
  #arrivedMs: number[] = [];
  /** The shortest time to an answer, in this period and in the whole one before. */
  #fastest = { sinceMs: -Infinity, answers: 0, now: Infinity, before: Infinity };

  /** Notes that a message is on its way to the wire. */
  take(nowMs: number): void {
    this.#takenMs.push(nowMs);
  }

  /** Notes that a message is no more on its way to the wire. */
  leave(takenMs: number): void {
    remove(this.#takenMs, this.#takenMs.indexOf(takenMs));
  }

  /** Notes that a message goes on the wire. @param limit how many of them may count within a second */
  begin(nowMs: number, limit: number): void {
    this.#begunMs.push(nowMs);
    if (this.#begunMs.length > burstOf(limit)) this.#begunMs.shift();
    this.#unansweredMs.push(nowMs);
    this.#arrivedMs.push(nowMs);
    // A limit may be far above what is sent.
    const isPast = ([oldest = nowMs]: readonly number[]): boolean => oldest <= nowMs - SECOND_MS;
    while (this.#arrivedMs.length > limit || isPast(this.#arrivedMs)) this.#arrivedMs.shift();
  }

  /** Notes that a message was answered, or that its connection has failed. */
  end(begunMs: number, nowMs: number): void {
    if (!remove(this.#unansweredMs, this.#unansweredMs.indexOf(begunMs))) return;
    const tookMs = nowMs - begunMs;
    this.#learn(tookMs, nowMs);
    const arrivedMs = begunMs + Math.min(LATE_MS, Math.max(0, tookMs - this.#fastestMs));
    if (arrivedMs <= nowMs - SECOND_MS) return;
    remove(this.#arrivedMs, this.#arrivedMs.lastIndexOf(begunMs));
    const before = this.#arrivedMs.findLastIndex((at) => at <= arrivedMs);
    this.#arrivedMs.splice(before + 1, 0, arrivedMs);
  }

  /** How many messages are on their way to the wire. Those that wait for a connection for long keep no others back. */
  unsent(nowMs: number): number {
    return this.#takenMs.filter((at) => at > nowMs - ON_ITS_WAY_MS).length;
  }

  /** How many messages arrived within a second, or are about to. */
  lately(nowMs: number): number {
    return this.#unarrived(nowMs) + this.#arrivedMs.filter((at) => at > nowMs - SECOND_MS).length;
  }

  /**
   * How long the next message waits, so that those of a second are spread over it.
   * @param share what this process may use of the limit
   */
  waitMs(share: number, limit: number, nowMs: number): number {
    const burst = Math.min(share, burstOf(limit));
    if (this.#begunMs.length + this.#takenMs.length < burst) return 0;
    const since = (times: readonly number[], count: number, pending: number): number =>
      count <= pending ? nowMs : (times.at(pending - count) ?? -Infinity);
    const ofSecond = since(this.#arrivedMs, share, this.#unarrived(nowMs)) + SECOND_MS;
    return Math.max(ofSecond, since(this.#begunMs, burst, this.unsent(nowMs)) + SECOND_MS / BURSTS) - nowMs;
  }

  /** How many messages have not arrived. One that is not answered for long keeps no others back. */
  #unarrived(nowMs: number): number {
    const unsent = this.unsent(nowMs);
    const latestMs = nowMs - SECOND_MS;
    if ((this.#unansweredMs[0] ?? Infinity) > latestMs || this.#fastestMs > SECOND_MS) return unsent;
    return unsent + this.#unansweredMs.filter((at) => at <= latestMs && at > latestMs - LATE_MS).length;
  }

  /** The time that an answer takes in any case; none until it is known. */
  get #fastestMs(): number {
    const { now, before } = this.#fastest;
    return Number.isFinite(before) ? Math.min(now, before) : 0;
  }

  #learn(tookMs: number, nowMs: number): void {
    const fastest = this.#fastest;
    if (fastest.answers === 0) fastest.sinceMs = nowMs;
    fastest.answers += 1;
    fastest.now = Math.min(fastest.now, tookMs);
    if (fastest.answers < WATCHED.answers || nowMs - fastest.sinceMs < WATCHED.ms) return;
    this.#fastest = { sinceMs: nowMs, answers: 0, now: Infinity, before: fastest.now };
  }
}

/** So many messages may go at once. */
const burstOf = (limit: number): number => Math.ceil(limit / BURSTS);

/** Removes what is at an index, if anything is. The first one goes most often. */
function remove(from: number[], at: number): boolean {
  if (at === 0) from.shift();
  else if (at > 0) from.splice(at, 1);
  return at >= 0;
}
