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
  isProbe: boolean;
}

/** Keeps emails from providers that refuse ours. Costs a connection nothing, and a query at most once a second. */
export interface ProviderGuard {
  /** Knows what the other workers have seen, if it has not asked lately. */
  ready: () => Promise<void>;
  /** Whether an email to the address would be held now, as far as is known. */
  isPaused: (address: string) => boolean;
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

/** Creates the guard of a worker process. */
export function createProviderGuard(exchange: ProviderExchange, tally: SendTally, concurrency: number): ProviderGuard {
  const ledger = createProviderLedger(exchange.workerId);
  const turns = paceOf(concurrency);
  exchange.start(ledger);

  function hold(provider: string, reason: string, ms: number): Hold {
    const until = new Date(Date.now() + ms).toISOString();
    return { wait: { reason, provider, until }, ms: ms + Math.random() * SPREAD_MS };
  }

  /** Asks for the probe when one is due. */
  async function admitPaused(provider: string, projectId: string): Promise<Admission | Hold | undefined> {
    const untilMs = exchange.stateOf(provider)?.pause?.untilMs ?? 0;
    const leftMs = untilMs - exchange.nowMs();
    if (leftMs <= 0 && (await exchange.takeProbe(provider))) return { projectId, provider, isProbe: true };
    const pause = exchange.stateOf(provider)?.pause;
    if (!pause) return undefined;
    const ms = Math.max(pause.untilMs - exchange.nowMs(), PROBE_WAIT_MS);
    return hold(provider, `The provider refuses our emails: ${pause.reason}`, ms);
  }

  return {
    ready: exchange.ready,
    isPaused: (address) => exchange.stateOf(recipientProviderOf(address))?.pause !== undefined,

    async admit({ to }, projectId, signal) {
      const provider = recipientProviderOf(to);
      const state = exchange.stateOf(provider);
      if (state?.pause) {
        const answer = await admitPaused(provider, projectId);
        if (answer) return answer;
      }
      if (!state?.pace) return { projectId, provider, isProbe: false };
      const turn = turns.take(provider, state.pace.rate / Math.max(1, Object.keys(state.workers).length));
      if (turn.isHeld) return hold(provider, 'The provider takes fewer emails at a time', turn.waitMs);
      if (turn.waitMs > 0) await delay(turn.waitMs, undefined, { signal }).catch(() => undefined);
      turn.done();
      return { projectId, provider, isProbe: false };
    },

    settle({ to }, { projectId, provider, isProbe }, outcome) {
      if (outcome.kind === 'accepted') tally.add(projectId, provider);
      const { sign, verdict } = assess(
        ledger,
        to,
        provider,
        outcome,
        exchange.stateOf(provider)?.suspects?.words ?? [],
      );
      const isPaused = exchange.stateOf(provider)?.pause !== undefined;
      if (isProbe) {
        ledger.probed(provider, outcome.kind === 'accepted' ? 'accepted' : sign === 'about us' ? 'refused' : 'unclear');
        exchange.soon();
      }
      if (sign === 'too fast') return { hold: hold(provider, 'The provider takes fewer emails at a time', SLOWED_MS) };
      // A fault of one message may be meant for all of them just now.
      if (verdict?.kind === 'sender' && isPaused) return { verdict: { ...verdict, mayPass: true } };
      return verdict ? { verdict } : {};
    },

    abandon({ provider, isProbe }) {
      if (!isProbe) return;
      ledger.probed(provider, 'unclear');
      exchange.soon();
    },
  };
}

interface Seen {
  sign: ReturnType<typeof signsOf>['kind'] | 'accepted';
  verdict?: RefusalVerdict;
}

/** Notes an outcome, and judges a refusal. Hard words that the provider gives to everybody are not believed. */
function assess(
  ledger: ProviderLedger,
  to: string,
  provider: string,
  outcome: SmtpOutcome,
  suspects: readonly string[],
): Seen {
  if (outcome.kind === 'accepted') {
    ledger.accepted(provider, to);
    return { sign: 'accepted' };
  }
  const { reply, stage } = outcome;
  const verdict =
    outcome.kind === 'rejected' ? judgeRefusal({ ...outcome, code: outcome.replyCode, text: reply }) : undefined;
  const signs = signsOf(to, reply, stage, verdict);
  const isDoubted = ledger.refused(provider, to, signs, suspects);
  if (!isDoubted) return { sign: signs.kind, ...(verdict && { verdict }) };
  return { sign: 'about us', verdict: { kind: 'sender', mayPass: true, rule: 'hard-surge' } };
}
