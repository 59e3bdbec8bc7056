import { ALL, contentKey, healthKey } from './health-key.ts';
import { recipientProviderOf } from '../verdict/recipient-provider.ts';
import { judgeRefusal, type RefusalVerdict } from '../verdict/judge-refusal.ts';
import { signsOf } from '../verdict/refusal-signs.ts';
import type { SmtpEnvelope, SmtpOutcome } from '../transport/smtp-pool.ts';
import type { Hold, OutcomeAssessment } from '../ports.ts';
import { createProviderLedger, type LedgerEmail, type ProviderLedger } from './provider-ledger.ts';
import type { ProviderExchange } from './provider-exchange.ts';
import {
  createRelayChoice,
  holdFor,
  PROBE_WAIT_MS,
  refusedReason,
  TOO_FAST,
  type RelayChoice,
} from './relay-choice.ts';
import type { SendTally } from './send-tally.ts';

/** The permission to send one email. End it with `settle` or `abandon`. */
export interface Admission extends RelayChoice {
  projectId: string;
  provider: string;
}

/**
 * Holds emails that relays or providers refuse. It takes no connection of its own, and at most one query per second.
 */
export interface ProviderGuard {
  /** Reads the results of other workers, if the last ones are too old. */
  ready: () => Promise<void>;
  /** Whether an email of the project to the address would be held now, as far as is known. */
  isPaused: (address: string, projectId: string) => boolean;
  /** Permits an email, or returns why it is held. */
  admit: (envelope: SmtpEnvelope, projectId: string, signal: AbortSignal) => Promise<Admission | Hold>;
  /** Notes the outcome of an email. */
  settle: (envelope: SmtpEnvelope, admission: Admission, outcome: SmtpOutcome) => OutcomeAssessment;
  /** Notes that the email got no outcome. */
  abandon: (admission: Admission) => void;
  /** Holds an email whose permitted relays cannot be connected to. */
  unreachable: (admission: Admission) => Hold;
}

/** How long emails wait after a refusal for speed, and after no permitted relay could be connected to. */
const SLOWED_MS = 10_000;
const UNREACHABLE_MS = 5_000;
/**
 * How long emails wait before another relay, after a paused relay refused them: as its probe, or because they were
 * already on the wire.
 */
const OTHER_RELAY_MS = 1_000;
const OTHER_RELAY = 'The relay refuses our emails; the email goes to another relay';

/** Creates the guard of a worker process. */
export function createProviderGuard(exchange: ProviderExchange, tally: SendTally, concurrency: number): ProviderGuard {
  const ledger = createProviderLedger(exchange.workerId);
  const choice = createRelayChoice(exchange, concurrency);
  const { relays } = exchange;
  exchange.start(ledger);

  const pauseOf = (key: string) => exchange.stateOf(key)?.pause;
  const suspectsOf = (key: string) => exchange.stateOf(key)?.suspects?.words ?? [];

  /** Admits an email of a project whose messages a provider refuses: requests the probe when it is due. */
  async function admitContent(key: string, provider: string): Promise<'probe' | Hold | undefined> {
    const leftMs = (pauseOf(key)?.untilMs ?? 0) - exchange.nowMs();
    if (leftMs <= 0 && (await exchange.takeProbe(key))) return 'probe';
    const pause = pauseOf(key);
    if (!pause) return undefined;
    const ms = Math.max(pause.untilMs - exchange.nowMs(), PROBE_WAIT_MS);
    return holdFor({ provider, relays, reason: refusedReason('provider', pause) }, ms);
  }

  function reportProbes({ probes, provider, projectId }: Admission, sign: Seen['sign'] | 'none'): void {
    for (const key of probes ?? []) {
      const refusedBy = key === contentKey(provider, projectId) ? 'about the message' : 'about us';
      const isRefused = sign === refusedBy || sign === 'too fast';
      ledger.probed(key, sign === 'accepted' ? 'accepted' : isRefused ? 'refused' : 'unclear');
    }
    if (probes) exchange.soon();
  }

  return {
    ready: exchange.ready,
    isPaused(address, projectId) {
      const provider = recipientProviderOf(address);
      return choice.isPaused(provider, projectId) || pauseOf(contentKey(provider, projectId)) !== undefined;
    },

    async admit({ to }, projectId, signal) {
      const provider = recipientProviderOf(to);
      if (exchange.isQuiet()) return { projectId, provider };
      const chosen = await choice.choose(provider, projectId, signal);
      if ('wait' in chosen) return chosen;
      const admission: Admission = { projectId, provider, ...chosen };
      const content = contentKey(provider, projectId);
      const answer = pauseOf(content) && (await admitContent(content, provider));
      if (answer === undefined) return admission;
      if (answer === 'probe') return { ...admission, probes: [...(admission.probes ?? []), content] };
      reportProbes(admission, 'none');
      return answer;
    },

    settle({ to }, admission, outcome) {
      const { projectId, provider } = admission;
      const relay = outcome.relay ?? relays[0] ?? ALL;
      const content = contentKey(provider, projectId);
      const keys = [healthKey(relay, provider), healthKey(relay, ALL)];
      const { sign, verdict } = assess(
        { ledger, email: { recipient: to, projectId }, keys, content, suspectsOf },
        outcome,
      );
      if (sign === 'accepted') tally.add(projectId, provider);
      reportProbes(admission, sign);
      // What a single recipient gets is a refusal of that email, and counts as any other.
      if (sign === 'too fast' && keys.some((key) => ledger.isSlowing(key, to))) {
        return { hold: holdFor({ provider, relays: [relay], reason: TOO_FAST }, SLOWED_MS) };
      }
      const isPausedHere = keys.some((key) => choice.isPausedFor(key, projectId));
      if (sign === 'about us' && isPausedHere && !choice.isPaused(provider, projectId)) {
        return { hold: holdFor({ provider, relays: [relay], reason: OTHER_RELAY }, OTHER_RELAY_MS) };
      }
      // A refusal of one message may currently apply to all of them.
      const isPaused = isPausedHere || pauseOf(content) !== undefined;
      if (verdict?.kind === 'sender' && isPaused) return { verdict: { ...verdict, mayPass: true } };
      return verdict ? { verdict } : {};
    },

    abandon: (admission) => reportProbes(admission, 'none'),

    unreachable({ provider, avoid }) {
      const open = relays.filter((relay) => !avoid?.has(relay));
      const reason = `No connection to ${open.join(', ')}; the other relays refuse our emails to this provider`;
      return holdFor({ provider, relays: open, reason }, UNREACHABLE_MS);
    },
  };
}

interface Seen {
  sign: ReturnType<typeof signsOf>['kind'] | 'accepted';
  verdict?: RefusalVerdict;
}

/** The keys and the ledger by which an outcome is noted. */
interface Notes {
  ledger: ProviderLedger;
  email: Required<LedgerEmail>;
  /** The keys of the provider through the relay, and of the relay. */
  keys: readonly string[];
  content: string;
  suspectsOf: (key: string) => readonly string[];
}

/** Notes an outcome, and judges a refusal. A hard refusal that too many addresses get does not count as hard. */
function assess({ ledger, email, keys, content, suspectsOf }: Notes, outcome: SmtpOutcome): Seen {
  if (outcome.kind === 'accepted') {
    for (const key of keys) ledger.accepted(key, email);
    if (ledger.has(content)) ledger.accepted(content, { recipient: email.recipient });
    return { sign: 'accepted' };
  }
  const { reply, stage } = outcome;
  const verdict =
    outcome.kind === 'rejected' ? judgeRefusal({ ...outcome, code: outcome.replyCode, text: reply }) : undefined;
  const signs = signsOf(email.recipient, reply, stage, verdict);
  const isDoubted = keys.map((key) => ledger.refused(key, email, signs, suspectsOf(key))).includes(true);
  if (signs.kind === 'about the message') {
    ledger.refused(content, { recipient: email.recipient }, { ...signs, kind: 'about us' }, []);
  }
  if (!isDoubted) return { sign: signs.kind, ...(verdict && { verdict }) };
  return { sign: 'about us', verdict: { kind: 'sender', mayPass: true, rule: 'hard-surge' } };
}
