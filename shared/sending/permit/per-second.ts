import { RATE_MS } from '../../pure/traffic-rules.ts';
import { ON_ITS_WAY_MS } from './allowance.ts';

/** A second of a rate is this much longer, because two clocks tell it. */
const SECOND_MS = RATE_MS.perSecond + 10;
/** A second of a rate has so many parts of its own. */
const BURSTS = 5;
/** A message that is answered later than others may have arrived so much later than these, at most. */
const LATE_MS = 400;
/** The fastest answer of so long counts. */
const FASTEST_OF_MS = 10_000;

/**
 * What this process uses of a rate per second. A message counts from its permit until a second after it has arrived. When
 * that was, only the answer tells: what a busy machine held back arrives together.
 */
export class PerSecond {
  /** When those were taken that are on their way to the wire. */
  #takenMs: number[] = [];
  /** When those went on the wire that are not answered. */
  #unansweredMs: number[] = [];
  /** When the latest messages arrived, as far as is known, in this order. */
  #arrivedMs: number[] = [];
  /** The shortest time to an answer, in this period and the one before. */
  #fastest = { sinceMs: -Infinity, now: Infinity, before: Infinity };

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
    const fastestMs = this.#fastestMs(nowMs);
    this.#fastest.now = Math.min(this.#fastest.now, tookMs);
    const arrivedMs = begunMs + Math.min(LATE_MS, Math.max(0, tookMs - fastestMs));
    if (arrivedMs <= nowMs - SECOND_MS) return;
    remove(this.#arrivedMs, this.#arrivedMs.lastIndexOf(begunMs));
    const before = this.#arrivedMs.findLastIndex((at) => at <= arrivedMs);
    this.#arrivedMs.splice(before + 1, 0, arrivedMs);
  }

  /** How many messages have not arrived. Those that wait for long, for a connection or an answer, keep no others back. */
  unarrived(nowMs: number): number {
    const onWay = this.#takenMs.filter((at) => at > nowMs - ON_ITS_WAY_MS).length;
    const latestMs = nowMs - SECOND_MS;
    if ((this.#unansweredMs[0] ?? Infinity) > latestMs || this.#fastestMs(nowMs) > SECOND_MS) return onWay;
    return onWay + this.#unansweredMs.filter((at) => at <= latestMs && at > latestMs - LATE_MS).length;
  }

  /** How many messages arrived within a second, or are about to. */
  lately(nowMs: number): number {
    return this.unarrived(nowMs) + this.#arrivedMs.filter((at) => at > nowMs - SECOND_MS).length;
  }

  /**
   * How long the next message waits, so that those of a second are spread over it.
   * @param share what this process may use of the limit
   */
  waitMs(share: number, limit: number, nowMs: number): number {
    const burst = Math.min(share, Math.ceil(limit / BURSTS));
    if (this.#arrivedMs.length + this.#takenMs.length + this.#unansweredMs.length < burst) return 0;
    const unarrived = this.unarrived(nowMs);
    const since = (count: number): number =>
      count <= unarrived ? nowMs : (this.#arrivedMs.at(unarrived - count) ?? -Infinity);
    return Math.max(since(share) + SECOND_MS, since(burst) + SECOND_MS / BURSTS) - nowMs;
  }

  #fastestMs(nowMs: number): number {
    const { sinceMs, now } = this.#fastest;
    if (nowMs - sinceMs > FASTEST_OF_MS) {
      const isLong = nowMs - sinceMs > 2 * FASTEST_OF_MS;
      this.#fastest = { sinceMs: nowMs, now: Infinity, before: isLong ? Infinity : now };
    }
    const fastestMs = Math.min(this.#fastest.now, this.#fastest.before);
    return Number.isFinite(fastestMs) ? fastestMs : 0;
  }
}

/** Removes what is at an index, if anything is. The first one goes most often. */
function remove(from: number[], at: number): boolean {
  if (at === 0) from.shift();
  else if (at > 0) from.splice(at, 1);
  return at >= 0;
}
