import { setTimeout as delay } from 'node:timers/promises';
import { recipientProviderOf } from '../../shared/pure/emails/recipient-provider.ts';
import { judgeRefusal, type RefusalVerdict } from '../../shared/pure/emails/delivery-verdict/judge-refusal.ts';
import { signsOf } from '../../shared/pure/emails/refusal-signs.ts';
import type { SmtpEnvelope, SmtpOutcome } from '../../shared/platform/smtp/smtp-pool.ts';
import type { Hold, OutcomeAssessment } from './outcome-result.ts';
import { createProviderLedger, type ProviderLedger } from './provider-ledger.ts';
import type { ProviderExchange } from './provider-exchange.ts';
import { paceOf } from './provider-turns.ts';
import type { SendTally } from './send-tally.ts';

/** Leave to hand one email over; give it back with `settle` or `abandon`. */
export interface Admission {
  projectId: string;
  provider: string;
  /** The pause that the email probes: of the provider, or of a project there. */
  probeOf?: string | undefined;
}

/** Holds emails to providers that refuse ours. Takes no extra connection, and at most one query a second. */
export interface ProviderGuard {
  /** Reads the results of the other workers, if the last read is too old. */
  ready: () => Promise<void>;
  /** Whether an email of the project to the address would be held now, as far as is known. */
  isPaused: (address: string, projectId: string) => boolean;
  admit: (envelope: SmtpEnvelope, projectId: string, signal: AbortSignal) => Promise<Admission | Hold>;
  settle: (envelope: SmtpEnvelope, admission: Admission, outcome: SmtpOutcome) => OutcomeAssessment;
  /** The email got no outcome. */
  abandon: (admission: Admission) => void;
}

/** Of emails that wait for another's probe, and of those that came too fast. */
const PROBE_WAIT_MS = 2_000;
const SLOWED_MS = 10_000;
/** Emails of a pause do not all come back at once. */
const SPREAD_MS = 1_000;

/** A provider's refusals of one project's messages are kept apart from those of our servers. */
function contentKey(provider: string, projectId: string): string {
  return `${provider} ${projectId}`;
}

/** Creates the guard of a worker process. */
export function createProviderGuard(exchange: ProviderExchange, tally: SendTally, concurrency: number): ProviderGuard {
  const ledger = createProviderLedger(exchange.workerId);
  const turns = paceOf(concurrency);
  exchange.start(ledger);

  const pauseOf = (key: string) => exchange.stateOf(key)?.pause;

  /** The pauses that an email may meet. */
  function keysOf(provider: string, projectId: string): [ofProvider: string, ofProject: string] {
    return [provider, contentKey(provider, projectId)];
  }

  function hold(provider: string, reason: string, ms: number): Hold {
    const until = new Date(Date.now() + ms).toISOString();
    return { wait: { reason, provider, until }, ms: ms + Math.random() * SPREAD_MS };
  }

  /** Asks for the probe when one is due. */
  async function admitPaused(key: string, provider: string, projectId: string): Promise<Admission | Hold | undefined> {
    const leftMs = (pauseOf(key)?.untilMs ?? 0) - exchange.nowMs();
    if (leftMs <= 0 && (await exchange.takeProbe(key))) return { projectId, provider, probeOf: key };
    const pause = pauseOf(key);
    if (!pause) return undefined;
    const ms = Math.max(pause.untilMs - exchange.nowMs(), PROBE_WAIT_MS);
    return hold(provider, `The provider refuses our emails: ${pause.reason}`, ms);
  }

  function reportProbe(key: string, provider: string, sign: Seen['sign']): void {
    const refusedBy = key === provider ? 'about us' : 'about the message';
    ledger.probed(key, sign === 'accepted' ? 'accepted' : sign === refusedBy ? 'refused' : 'unclear');
    exchange.soon();
  }

  return {
    ready: exchange.ready,
    isPaused: (address, projectId) =>
      keysOf(recipientProviderOf(address), projectId).some((key) => pauseOf(key) !== undefined),

    async admit({ to }, projectId, signal) {
      const provider = recipientProviderOf(to);
      for (const key of keysOf(provider, projectId)) {
        const answer = pauseOf(key) && (await admitPaused(key, provider, projectId));
        if (answer) return answer;
      }
      const state = exchange.stateOf(provider);
      if (!state?.pace) return { projectId, provider };
      const turn = turns.take(provider, state.pace.rate / Math.max(1, Object.keys(state.workers).length));
      if (turn.isHeld) return hold(provider, 'The provider takes fewer emails at a time', turn.waitMs);
      if (turn.waitMs > 0) await delay(turn.waitMs, undefined, { signal }).catch(() => undefined);
      turn.done();
      return { projectId, provider };
    },

    settle({ to }, { projectId, provider, probeOf }, outcome) {
      const keys = keysOf(provider, projectId);
      const { sign, verdict } = assess(ledger, to, keys, outcome, exchange.stateOf(provider)?.suspects?.words ?? []);
      if (sign === 'accepted') tally.add(projectId, provider);
      if (probeOf !== undefined) reportProbe(probeOf, provider, sign);
      if (sign === 'too fast') return { hold: hold(provider, 'The provider takes fewer emails at a time', SLOWED_MS) };
      // A refusal of one message may currently apply to all of them.
      const isPaused = keys.some((key) => pauseOf(key) !== undefined);
      if (verdict?.kind === 'sender' && isPaused) return { verdict: { ...verdict, mayPass: true } };
      return verdict ? { verdict } : {};
    },

    abandon({ probeOf }) {
      if (probeOf === undefined) return;
      ledger.probed(probeOf, 'unclear');
      exchange.soon();
    },
  };
}

interface Seen {
  sign: ReturnType<typeof signsOf>['kind'] | 'accepted';
  verdict?: RefusalVerdict;
}

/** Notes an outcome, and judges a refusal. A hard refusal that the provider gives to everybody is not believed. */
function assess(
  ledger: ProviderLedger,
  to: string,
  [provider, project]: [ofProvider: string, ofProject: string],
  outcome: SmtpOutcome,
  suspects: readonly string[],
): Seen {
  if (outcome.kind === 'accepted') {
    ledger.accepted(provider, to);
    if (ledger.has(project)) ledger.accepted(project, to);
    return { sign: 'accepted' };
  }
  const { reply, stage } = outcome;
  const verdict =
    outcome.kind === 'rejected' ? judgeRefusal({ ...outcome, code: outcome.replyCode, text: reply }) : undefined;
  const signs = signsOf(to, reply, stage, verdict);
  const isDoubted = ledger.refused(provider, to, signs, suspects);
  if (signs.kind === 'about the message') ledger.refused(project, to, { ...signs, kind: 'about us' }, []);
  if (!isDoubted) return { sign: signs.kind, ...(verdict && { verdict }) };
  return { sign: 'about us', verdict: { kind: 'sender', mayPass: true, rule: 'hard-surge' } };
}
