import { randomUUID } from 'node:crypto';
import type { AnswerNumber } from '../../pure/deliverability.ts';
import { dnsDomainOf } from '../../pure/emails/email-address.ts';
import type { Hold } from '../../pure/emails/hold.ts';
import type { OutcomeAssessment, PermitStore, ProjectPolicy, Stream } from '../ports.ts';
import type { SmtpOutcome, SmtpPool } from '../transport/smtp-pool.ts';
import { judgeOutcome, type RefusalVerdict } from '../verdict/judge-refusal.ts';
import { recipientProviderOf } from '../verdict/recipient-provider.ts';
import { signsOf, type RefusalSigns } from '../verdict/refusal-signs.ts';
import { answersOf, refusedAs } from './answers.ts';
import type { Booking } from './booking.ts';
import { Exchange, type ExchangeOptions } from './exchange.ts';
import type { ProviderPause } from './health.ts';
import { ALL, allowanceKey, contentKey, healthKey, isWholeRelay } from './keys.ts';
import { Ledger, type DecidedEmail } from './ledger.ts';
import type { ShapingFile } from '../../pure/traffic-rules.ts';
import type { DnsResolver } from '../../platform/dns/resolver.ts';
import type { Grant, Postponement, Question } from './question.ts';
import { Shaping, type Candidate, type MailStream } from './shaping.ts';
import { ProviderTurns } from './turns.ts';

export interface PermitOptions extends ExchangeOptions {
  store: PermitStore;
  smtp: Pick<SmtpPool, 'isClosed' | 'relays' | 'capacity'>;
  /** The content of `SHAPING_FILE`. */
  shaping: ShapingFile;
  resolver: Pick<DnsResolver, 'mx'>;
}

/** How long emails wait after a refusal for speed, and after no permitted relay could be connected to. */
const SLOWED_MS = 10_000;
const UNREACHABLE_MS = 5_000;
/**
 * How long emails wait before another relay, after a paused relay refused them: as its probe, or because they were
 * already on the wire.
 */
const OTHER_RELAY_MS = 1_000;
/** How long an email waits for the probe of another email. */
const PROBE_WAIT_MS = 2_000;
const TOO_FAST = 'The provider takes fewer emails at a time';
const OTHER_RELAY = 'The relay refuses our emails; the email goes to another relay';

/** A refusal as it was judged. */
interface Assessed extends Pick<RefusalSigns, 'cause'> {
  sign: RefusalSigns['kind'];
  verdict?: RefusalVerdict;
}

/** A relay, and the keys of the pauses that apply to an email through it. */
interface Route {
  relay: string;
  paused: string[];
}

/** The relays that may carry an email now, and what else is missing. */
type Found = ReturnType<Shaping['candidates']>;

/**
 * Servers that failed lately are left alone, and an email that meets them then has not been tried: it waits until they are
 * asked again. Once more in a row it counts as tried, because others had them asked meanwhile.
 */
function sparedOf({ provider, email }: Grant, outcome: SmtpOutcome): OutcomeAssessment | undefined {
  if (outcome.kind !== 'deferred' || outcome.unaskedUntilMs === undefined || !email) return undefined;
  const { firstMs = email.dueMs, bySource = {}, isSpared } = email.answered ?? {};
  if (isSpared) return undefined;
  const until = new Date(outcome.unaskedUntilMs).toISOString();
  const hold: Hold = { level: 'provider', reason: 'deferred', words: outcome.reply, provider, until };
  return { hold, kept: { answered: { firstMs, bySource, isSpared: true } } };
}

/**
 * Decides whether emails may go now. A project has a rate, or none. An email goes to the relays that accept email for
 * its provider: a relay that refuses is avoided while others accept, and after its pause it gets a single email as a
 * probe; only when all relays refuse does the email wait. The permit takes no connection of its own, and at most one
 * query per second for providers and relays.
 */
export class Permit {
  readonly #store: PermitStore;
  readonly #ledger = new Ledger(randomUUID(), () => performance.now());
  readonly #exchange: Exchange;
  readonly #shaping: Shaping;
  readonly #turns: ProviderTurns;
  readonly #relays: readonly string[];

  constructor(options: PermitOptions) {
    this.#store = options.store;
    const now = () => performance.now();
    const { workerId } = this.#ledger;
    const { shaping: file, resolver, smtp } = options;
    this.#shaping = new Shaping({ file, resolver, workerId, now, relays: smtp.relays() });
    this.#exchange = new Exchange(options, this.#ledger, this.#shaping);
    this.#relays = this.#exchange.relays;
    this.#turns = new ProviderTurns(options.smtp.capacity);
  }

  /** Calls a function with each key of a rule that leaves the mail of an owner more room. @returns ends that */
  watch(owner: string, onFree: (key: string) => void): () => void {
    return this.#shaping.allowances.watch(owner, onFree);
  }

  /** Reads the results of other workers, if the last ones are too old. */
  ready(): Promise<void> {
    return this.#exchange.ready();
  }

  /** Gets what traffic rules lend for emails that are about to ask, so that they do not wait for it one by one. */
  async expect(projectId: string, stream: MailStream, recipients: readonly string[]): Promise<void> {
    if (await this.#shaping.expect(projectId, stream, recipients)) await this.#exchange.lendNext();
  }

  /** The rate of a project, or why all its emails wait; undefined when the project is gone. */
  async policyOf(projectId: string): Promise<ProjectPolicy | undefined> {
    const policy = await this.#store.policyOf(projectId);
    if (policy) this.#exchange.sees(policy.knownMs);
    this.#shaping.learn(projectId, policy?.shaping, policy?.knownMs ?? 0);
    return policy;
  }

  /** Books sending speed of a project for a number of emails. Transactional emails precede the bookings of campaigns. */
  async book(request: Parameters<PermitStore['reserve']>[0]): Promise<Booking> {
    const { count, ratePerSecond } = request;
    const waitMs = await this.#store.reserve(request);
    return { ratePerSecond, count, startsAtMs: this.nowMs() + Math.max(0, Math.ceil(waitMs)) };
  }

  /** Stores why the emails of a stream wait. */
  note(projectId: string, stream: Stream, hold: Hold): Promise<void> {
    return this.#store.note(projectId, stream, hold);
  }

  /** The hold of all emails while none of the relays can be connected to. */
  noRelay(ms: number): Hold {
    const about = { provider: ALL, relay: this.#relays.join(', ') };
    const until = new Date(Date.now() + ms).toISOString();
    return { level: 'installation', reason: 'no relay', words: 'No mail server answers', ...about, until };
  }

  /** The time by the clock of the database, which all workers share, in milliseconds since 1970. */
  nowMs(): number {
    return this.#exchange.nowMs();
  }

  /** Whether an email of the project to the address would be held now, as far as is known. */
  isPaused(recipient: string, projectId: string): boolean {
    if (this.#exchange.isQuiet()) return false;
    return this.#isProviderPaused(recipientProviderOf(recipient), projectId);
  }

  /** Permits an email, or tells why it must wait. */
  ask(question: Question): Promise<Grant | Hold | Postponement>;
  /** Does the same without the relays that do not offer what the email needs; undefined when there is no other one. */
  ask(question: Question, missed: readonly string[]): Promise<Grant | Hold | Postponement | undefined>;
  async ask(question: Question, missed: readonly string[] = []): Promise<Grant | Hold | Postponement | undefined> {
    const { projectId, owner, recipient, stream, email } = question;
    const domain = dnsDomainOf(recipient);
    const grant: Grant = { projectId, recipient, provider: recipientProviderOf(domain), ...(email && { email }) };
    const isPlain = this.#shaping.isPlain(projectId);
    if (this.#exchange.isQuiet() && isPlain && missed.length === 0) return grant;
    let all = isPlain ? this.#relays : this.#shaping.relaysOf(projectId, stream, missed);
    // A source may have been resumed.
    if ('until' in all) await this.#exchange.refresh();
    if ('until' in all) all = this.#shaping.relaysOf(projectId, stream, missed);
    if ('until' in all) return all;
    const relays = missed.length === 0 ? all : all.filter((relay) => !missed.includes(relay));
    if (relays.length === 0) return undefined;
    if (isPlain) return this.#askRelays(grant, relays, question);
    const found = this.#shaping.providerOf(domain);
    const provider = typeof found === 'string' ? found : await found;
    const about = { projectId, owner, domain, email };
    const look = (labels = relays) => this.#shaping.candidates(labels, provider, about);
    // While nobody refuses, only the rules matter.
    const only = this.#exchange.isQuiet() && this.#choose(grant, look().free, provider);
    if (only) return only;
    const free = await this.#candidates(look, question);
    if (!Array.isArray(free)) return free;
    const labels = free.map(({ label }) => label);
    const answer = await this.#askRelays(grant, labels, question);
    if ('until' in answer) return answer;
    // Others may have been faster.
    const open = labels.filter((label) => !answer.avoid?.has(label));
    const left = look(open);
    const chosen = this.#choose(answer, left.free, provider);
    if (chosen) return chosen;
    this.abandon(answer);
    return left.shortage ? this.#postponed(left.shortage, question) : this.unreachable(answer);
  }

  /** Uses the traffic rules of one of the relays that may carry an email; undefined without any. */
  #choose(grant: Grant, free: readonly Candidate[], provider: string): Grant | undefined {
    const chosen = this.#shaping.choose(free, provider);
    if (!chosen) return undefined;
    const isAny = chosen.relays.length === this.#relays.length;
    return { ...grant, ...(!isAny && { avoid: this.#allBut(...chosen.relays) }), rules: chosen.rules };
  }

  /** The relays whose traffic rules let an email go now. */
  async #candidates(look: () => Found, question: Question): Promise<Candidate[] | Postponement> {
    const { free, shortage } = look();
    if (!shortage || free.length > 0) return free;
    if (!this.#shaping.allowances.isHungry(shortage.key)) return this.#postponed(shortage, question);
    await this.#exchange.lend();
    const now = look();
    return now.shortage && now.free.length === 0 ? this.#postponed(now.shortage, question) : now.free;
  }

  #postponed(shortage: NonNullable<Found['shortage']>, { owner, stream }: Question): Postponement {
    return {
      key: shortage.key,
      waitMs: shortage.waitMs,
      perSecond: this.#shaping.speedOf(shortage),
      hold: (emailId) => this.#shaping.hold(shortage, { owner, stream, emailId }),
    };
  }

  /** Permits an email at some relays, by their health and that of its provider. */
  async #askRelays(grant: Grant, relays: readonly string[], question: Question): Promise<Grant | Hold> {
    const { provider, projectId } = grant;
    let routes = this.#routes(provider, projectId, relays);
    const over = routes.filter(({ paused }) => paused.length > 0 && this.#endOf(paused) <= this.#exchange.nowMs());
    for (const { relay, paused } of over) {
      const [first = ''] = paused;
      if (!(await this.#exchange.takeProbe(first))) continue;
      // The probe of a message may go through any relay that is not paused itself.
      const unpaused = routes.filter((each) => each.paused.length <= 1).map((each) => each.relay);
      const isContent = first === contentKey(provider, projectId);
      return { ...grant, avoid: this.#allBut(...(isContent ? unpaused : [relay])), probes: paused };
    }
    // The wait for a probe may have changed what is known.
    if (over.length > 0) routes = this.#routes(provider, projectId, relays);
    const open = routes.filter(({ paused }) => paused.length === 0).map(({ relay }) => relay);
    if (open.length === 0) return this.#pausedHold(provider, routes);
    const slow = open.filter((relay) => this.#rateOf(healthKey(relay, provider)) !== undefined);
    if (slow.length > 0) return this.#paced(grant, open, slow, question);
    return open.length === this.#relays.length ? grant : { ...grant, avoid: this.#allBut(...open) };
  }

  /** Notes the outcome of an email, and judges it. */
  settle(grant: Grant, outcome: SmtpOutcome): OutcomeAssessment {
    const spared = sparedOf(grant, outcome);
    if (spared) {
      this.abandon(grant);
      return spared;
    }
    grant.rules?.done();
    const { projectId, recipient, provider } = grant;
    const email: DecidedEmail = { recipient, projectId, provider, relay: outcome.relay ?? this.#relays[0] ?? ALL };
    if (outcome.kind === 'accepted') {
      this.#ledger.accepted(email);
      this.#reportProbes(grant, 'accepted');
      return this.#count(grant, email.relay, 'accepted');
    }
    const keys = [healthKey(email.relay, provider), healthKey(email.relay, ALL)];
    const assessed = this.#assess(email, keys, outcome);
    this.#reportProbes(grant, assessed.sign);
    const counted = this.#count(grant, email.relay, refusedAs(outcome, assessed.cause));
    return { ...this.#consequences(email, keys, assessed), ...counted };
  }

  /** Counts the answer to an email. @returns what is kept with the email */
  #count({ email, provider, rules }: Grant, relay: string, as: AnswerNumber): Pick<OutcomeAssessment, 'kept'> {
    if (!email) return {};
    const source = this.#shaping.sourceOf(relay);
    const known = rules?.provider ?? provider;
    const { dueMs, answered: before } = email;
    const { answers, counted } = answersOf(as, source, { dueMs, before, nowMs: this.nowMs() });
    this.#ledger.answered(source, known, answers);
    return { kept: as === 'accepted' ? { carrier: allowanceKey(source, known) } : { answered: counted } };
  }

  /** What follows from a refusal for the email. */
  #consequences(
    { recipient, projectId, provider, relay }: DecidedEmail,
    keys: readonly string[],
    { sign, verdict }: Assessed,
  ): OutcomeAssessment {
    // What a single recipient gets is a refusal of that email, and counts as any other.
    if (sign === 'too fast' && keys.some((key) => this.#ledger.isSlowing(key, recipient))) {
      return { hold: this.#providerHold(provider, [relay], TOO_FAST, SLOWED_MS) };
    }
    const isPausedHere = keys.some((key) => this.#isPausedFor(key, projectId));
    if (sign === 'about us' && isPausedHere && !this.#isProviderPaused(provider, projectId)) {
      return { hold: this.#providerHold(provider, [relay], OTHER_RELAY, OTHER_RELAY_MS) };
    }
    // A refusal of one message may currently apply to all of them.
    const isPaused = isPausedHere || this.#pauseOf(contentKey(provider, projectId)) !== undefined;
    if (verdict?.kind === 'sender' && isPaused) return { verdict: { ...verdict, mayPass: true } };
    return verdict ? { verdict } : {};
  }

  /** Notes that the email got no outcome: no server was offered it. */
  abandon(grant: Grant): void {
    grant.rules?.done();
    this.#reportProbes(grant, 'none');
  }

  /** Holds an email whose permitted relays cannot be connected to. */
  unreachable({ provider, avoid }: Grant): Hold {
    const open = this.#relays.filter((relay) => !avoid?.has(relay));
    const words = `No connection to ${open.join(', ')}; the other relays may not send to this provider now`;
    return this.#providerHold(provider, open, words, UNREACHABLE_MS);
  }

  #pauseOf(key: string): ProviderPause | undefined {
    return this.#exchange.stateOf(key)?.pause;
  }

  /** Whether a pause of a key applies to the emails of a project. */
  #isPausedFor(key: string, projectId: string): boolean {
    const pause = this.#pauseOf(key);
    return pause !== undefined && (pause.projectId ?? projectId) === projectId;
  }

  #endOf(keys: readonly string[]): number {
    return Math.max(...keys.map((key) => this.#pauseOf(key)?.untilMs ?? 0));
  }

  #routes(provider: string, projectId: string, relays: readonly string[] = this.#relays): Route[] {
    const content = contentKey(provider, projectId);
    return relays.map((relay) => {
      const keys = [healthKey(relay, ALL), healthKey(relay, provider), content];
      return { relay, paused: keys.filter((key) => this.#isPausedFor(key, projectId)) };
    });
  }

  #isProviderPaused(provider: string, projectId: string): boolean {
    return this.#routes(provider, projectId).every(({ paused }) => paused.length > 0);
  }

  #allBut(...open: readonly string[]): ReadonlySet<string> {
    return new Set(this.#relays.filter((relay) => !open.includes(relay)));
  }

  #providerHold(provider: string, relays: readonly string[], words: string, ms: number): Hold {
    const until = new Date(Date.now() + ms).toISOString();
    return { level: 'provider', reason: 'provider paused', words, provider, relay: relays.join(', '), until };
  }

  /** The hold of the pause that ends first. */
  #pausedHold(provider: string, routes: readonly Route[]): Hold {
    const [{ paused } = { paused: [] }] = routes.toSorted((a, b) => this.#endOf(a.paused) - this.#endOf(b.paused));
    const endMs = this.#endOf(paused);
    const key = paused.find((each) => this.#endOf([each]) === endMs) ?? '';
    const level = isWholeRelay(key) ? 'relay' : 'provider';
    const words = `The ${level} refuses our emails: ${this.#pauseOf(key)?.reason ?? 'many refusals at once'}`;
    const ms = Math.max(endMs - this.#exchange.nowMs(), PROBE_WAIT_MS);
    return { ...this.#providerHold(provider, this.#relays, words, ms), level };
  }

  /** Emails per second that this worker may send to a provider through a relay; undefined without a limit. */
  #rateOf(key: string): number | undefined {
    const state = this.#exchange.stateOf(key);
    return state?.pace && state.pace.rate / Math.max(1, Object.keys(state.workers).length);
  }

  /** Takes a turn at one of the relays that limit the speed; without a free turn, uses the other relays. */
  async #paced(
    grant: Grant,
    open: readonly string[],
    slow: readonly string[],
    { owner, signal }: Question,
  ): Promise<Grant | Hold> {
    const { provider } = grant;
    const free = slow.find((relay) => this.#turns.isFree(healthKey(relay, provider)));
    if (free === undefined && open.length > slow.length) {
      return { ...grant, avoid: this.#allBut(...open.filter((relay) => !slow.includes(relay))) };
    }
    let shortestMs = Infinity;
    for (const relay of free === undefined ? slow : [free]) {
      const key = healthKey(relay, provider);
      const heldMs = await this.#turns.take(key, owner, this.#rateOf(key) ?? Infinity, signal);
      if (heldMs === undefined) return { ...grant, avoid: this.#allBut(relay) };
      shortestMs = Math.min(shortestMs, heldMs);
    }
    return this.#providerHold(provider, slow, TOO_FAST, shortestMs);
  }

  #reportProbes({ probes, provider, projectId }: Grant, sign: RefusalSigns['kind'] | 'accepted' | 'none'): void {
    for (const key of probes ?? []) {
      const refusedBy = key === contentKey(provider, projectId) ? 'about the message' : 'about us';
      const isRefused = sign === refusedBy || sign === 'too fast';
      this.#ledger.probed(key, sign === 'accepted' ? 'accepted' : isRefused ? 'refused' : 'unclear');
    }
    if (probes) void this.#exchange.run();
  }

  /** Notes and judges a refusal. A hard refusal that too many addresses get does not count as hard. */
  #assess(email: DecidedEmail, keys: readonly string[], outcome: Exclude<SmtpOutcome, { kind: 'accepted' }>): Assessed {
    const verdict = outcome.kind === 'rejected' ? judgeOutcome(outcome) : undefined;
    const signs = signsOf(email.recipient, outcome, verdict);
    const suspectsOf = (key: string) => this.#exchange.stateOf(key)?.suspects?.words ?? [];
    const isDoubted = keys.map((key) => this.#ledger.refused(key, email, signs, suspectsOf(key))).includes(true);
    if (signs.kind === 'about the message') {
      this.#ledger.refused(contentKey(email.provider, email.projectId), email, { ...signs, kind: 'about us' }, []);
    }
    if (!isDoubted) return { sign: signs.kind, cause: signs.cause, ...(verdict && { verdict }) };
    return { sign: 'about us', cause: 'reputation', verdict: { kind: 'sender', mayPass: true, rule: 'hard-surge' } };
  }
}
