import { setTimeout as delay } from 'node:timers/promises';
import { ALL, healthKey, isWholeRelay } from './health-key.ts';
import type { ProviderPause } from './provider-health.ts';
import type { Hold } from '../ports.ts';
import type { ProviderExchange } from './provider-exchange.ts';
import { createProviderTurns } from './provider-turns.ts';

/** The relays that an email may use now. */
export interface RelayChoice {
  /** The relays that must not get it; missing when all may. */
  avoid?: ReadonlySet<string>;
  /** The pauses that it probes. */
  probes?: readonly string[];
}

/** The reason why emails to a provider that limits the speed wait. */
export const TOO_FAST = 'The provider takes fewer emails at a time';

/** How long an email waits for the probe of another email. */
export const PROBE_WAIT_MS = 2_000;
/** The spread of the waits, so that held emails do not all return at once. */
const SPREAD_MS = 1_000;

/** The reason why emails wait. */
export interface HoldReason {
  provider: string;
  relays: readonly string[];
  reason: string;
}

/** Holds an email without counting a delivery attempt. */
export function holdFor({ provider, relays, reason }: HoldReason, ms: number): Hold {
  const until = new Date(Date.now() + ms).toISOString();
  const relay = relays.join(', ');
  return { wait: { reason, provider, relay, until }, ms: ms + Math.random() * SPREAD_MS };
}

/** Why emails of a project to a provider, or all of them, are not sent. */
export function refusedReason(who: 'provider' | 'relay', pause: ProviderPause | undefined): string {
  return `The ${who} refuses our emails: ${pause?.reason ?? 'many refusals at once'}`;
}

interface PausedRelay {
  relay: string;
  keys: string[];
}

/**
 * Creates the choice of relays: an email goes to those that accept email for its provider. A relay that refuses is
 * avoided while others accept; after its pause it gets a single email as a probe. Only when all relays refuse does the
 * email wait.
 */
export function createRelayChoice(exchange: ProviderExchange, concurrency: number) {
  const turns = createProviderTurns(concurrency);
  const { relays } = exchange;
  const pauseOf = (key: string) => exchange.stateOf(key)?.pause;
  const isPausedFor = (key: string, projectId: string): boolean => {
    const pause = pauseOf(key);
    return pause !== undefined && (pause.projectId ?? projectId) === projectId;
  };
  const untilMs = (keys: readonly string[]) => Math.max(...keys.map((key) => pauseOf(key)?.untilMs ?? 0));

  /** The pauses of a relay that apply to an email of the project to the provider. */
  function pausesAt(relay: string, provider: string, projectId: string): string[] {
    return [healthKey(relay, ALL), healthKey(relay, provider)].filter((key) => isPausedFor(key, projectId));
  }

  function pausedAmong(provider: string, projectId: string): PausedRelay[] {
    const all = relays.map((relay) => ({ relay, keys: pausesAt(relay, provider, projectId) }));
    return all.filter(({ keys }) => keys.length > 0);
  }

  const allBut = (relay: string): Pick<RelayChoice, 'avoid'> =>
    relays.length < 2 ? {} : { avoid: new Set(relays.filter((each) => each !== relay)) };

  const isOver = ({ keys }: PausedRelay): boolean => untilMs(keys) <= exchange.nowMs();

  /** Requests the probe of one of the relays whose pause is over. */
  async function probe(over: readonly PausedRelay[]): Promise<RelayChoice | undefined> {
    for (const { relay, keys } of over) {
      const [first] = keys;
      if (first !== undefined && (await exchange.takeProbe(first))) return { ...allBut(relay), probes: keys };
    }
    return undefined;
  }

  function hold(provider: string, paused: readonly PausedRelay[]): Hold {
    const soonest = Math.min(...paused.map(({ keys }) => untilMs(keys)));
    const { keys = [] } = paused.find((each) => untilMs(each.keys) === soonest) ?? {};
    const key = keys.find((each) => untilMs([each]) === soonest) ?? '';
    const reason = refusedReason(isWholeRelay(key) ? 'relay' : 'provider', pauseOf(key));
    return holdFor({ provider, relays, reason }, Math.max(soonest - exchange.nowMs(), PROBE_WAIT_MS));
  }

  /** Emails per second that this worker may send to a provider through a relay; undefined without a limit. */
  function rateOf(key: string): number | undefined {
    const state = exchange.stateOf(key);
    return state?.pace && state.pace.rate / Math.max(1, Object.keys(state.workers).length);
  }

  /** Takes a turn at one of the relays that limit the speed; without a free turn, uses the other relays. */
  async function paced(
    provider: string,
    { open, slow }: { open: readonly string[]; slow: readonly string[] },
    signal: AbortSignal,
  ): Promise<RelayChoice | Hold> {
    const free = slow.find((relay) => turns.isFree(healthKey(relay, provider)));
    if (free === undefined && open.length > slow.length) {
      return { avoid: new Set(relays.filter((relay) => !open.includes(relay) || slow.includes(relay))) };
    }
    let waitMs = Infinity;
    for (const relay of free === undefined ? slow : [free]) {
      const key = healthKey(relay, provider);
      const turn = turns.take(key, rateOf(key) ?? Infinity);
      if (turn.isHeld) {
        waitMs = Math.min(waitMs, turn.waitMs);
        continue;
      }
      if (turn.waitMs > 0) await delay(turn.waitMs, undefined, { signal }).catch(() => undefined);
      turn.done();
      return allBut(relay);
    }
    return holdFor({ provider, relays: slow, reason: TOO_FAST }, waitMs);
  }

  return {
    /** Whether a pause of a key applies to the emails of a project. */
    isPausedFor,

    /** Whether an email of the project would wait now, as far as is known. */
    isPaused: (provider: string, projectId: string): boolean =>
      relays.every((relay) => pausesAt(relay, provider, projectId).length > 0),

    async choose(provider: string, projectId: string, signal: AbortSignal): Promise<RelayChoice | Hold> {
      let paused = pausedAmong(provider, projectId);
      const over = paused.filter(isOver);
      if (over.length > 0) {
        const probing = await probe(over);
        if (probing) return probing;
        // The wait for the probe may have changed what is known.
        paused = pausedAmong(provider, projectId);
      }
      if (paused.length === relays.length) return hold(provider, paused);
      const open = relays.filter((relay) => !paused.some((each) => each.relay === relay));
      const slow = open.filter((relay) => rateOf(healthKey(relay, provider)) !== undefined);
      if (slow.length > 0) return paced(provider, { open, slow }, signal);
      return paused.length === 0 ? {} : { avoid: new Set(paused.map(({ relay }) => relay)) };
    },
  };
}
