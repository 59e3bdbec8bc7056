import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import {
  ANY,
  limitsOf,
  RATE_MS,
  RATES,
  type LimitName,
  type Limits,
  type ProjectShaping,
  type ShapingFile,
  type TrafficRule,
} from '../../pure/traffic-rules.ts';
import { planOf, type SourceWarmUp } from '../../pure/warm-up.ts';
import { dnsDomainOf } from '../../pure/emails/email-address.ts';
import type { Hold } from '../../pure/emails/hold.ts';
import { ConfigError } from '../../platform/config.ts';
import type { DnsResolver } from '../../platform/dns/resolver.ts';
import type { RelayState } from '../transport/relay-state.ts';
import { MESSAGES_PER_CONNECTION_AT_ONCE } from '../transport/smtp-pool.ts';
import { DEFAULT_POOL, type Source } from '../transport/smtp-url.ts';
import { createProviderFinder, type ProviderFinder } from '../verdict/mx-provider.ts';
import type { Entry } from './allowance-entry.ts';
import type { CountedAnswers } from './answers.ts';
import { Allowances, type Shortage } from './allowances.ts';
import { HeldLines } from './held-lines.ts';
import { allowanceKey, partsOfAllowance, projectSubject } from './keys.ts';
import type { ProviderStates, SourceInUse } from '../ports.ts';
import { PROVIDER_RULES } from './provider-rules.ts';
import { UsedRules } from './used-rules.ts';
import { partsOfWarmUp, WARM_UP_LIMITS, warmUpKey } from './warm-up-allowance.ts';

/** The streams of mail that pools are chosen for. */
export type MailStream = 'transactional' | 'marketing';

/** A relay that may carry an email now, and what that uses up. */
export interface Candidate {
  label: string;
  uses: Entry[];
  rule: SourceRule;
  isWarming: boolean;
}

/** The limits of a source at a provider, the key of their use, and whether all workers share one. */
interface SourceRule {
  key: string;
  limits: Limits;
  isLimited: boolean;
  isShared: boolean;
  /** What is known of their use. */
  use?: Entry;
}

/** An email, as far as rules are about it. */
interface Addressed {
  projectId: string;
  owner: string;
  /** The domain of its recipient, as DNS has it. */
  domain: string;
  /** What sources made of it. */
  email?: { answered: CountedAnswers | null } | undefined;
}

/** An email that a rule holds. */
interface Held {
  owner: string;
  stream: MailStream;
  emailId: string;
}

export interface ShapingOptions {
  file: ShapingFile;
  relays: readonly Pick<RelayState, 'label' | 'source'>[];
  resolver: Pick<DnsResolver, 'mx'>;
  workerId: string;
  now: () => number;
}

const POLICIES_MAX = 10_000;
const LIMITS_MAX = 50_000;
/** How soon mail is tried again that has no source: one may be resumed at any moment. */
const NO_SOURCE_MS = 30_000;
/** How soon transactional mail is tried again that a warm-up holds: it may be skipped or stopped at any moment. */
const WARM_UP_MS = 300_000;
/** Held emails return at least so many a second, because a rule may have been free for a while when they do. */
const RETURNS_PER_SECOND = 50;
/** More return than may go, because those that come together wait for each other. */
const RETURNS_FACTOR = 2;
const HELD_MS_MIN = 500;
const LIMIT_WORDS: Record<LimitName, string> = {
  perSecond: 'a second',
  perMinute: 'a minute',
  perHour: 'an hour',
  perDay: 'a day',
  connections: 'at a time',
  messagesPerConnection: 'on a connection',
};

/** The rules that apply to a source, the built-in ones first. */
export function rulesOf({ defaults, rules }: ShapingFile, kind: Source['kind']): readonly TrafficRule[] {
  return defaults === 'all' || defaults === kind ? [...PROVIDER_RULES, ...rules] : rules;
}

/** Tells whether a rule or a plan names a domain. */
export function providersIn({ rules, plans = [] }: ShapingFile): (domain: string) => boolean {
  const named = new Set([...rules, ...plans].map(({ provider }) => provider));
  return (domain) => named.has(domain);
}

/** What a source may send to a provider. */
export function sourceLimits(
  file: ShapingFile,
  { kind, name }: Pick<Source, 'kind' | 'name'>,
  provider: string,
): Limits {
  const effective = limitsOf(rulesOf(file, kind), name, provider);
  return Object.fromEntries(Object.entries(effective).map(([limit, { value }]) => [limit, value]));
}

/** The warm-up of a source that is to begin when it is new. @throws Error when the file does not have its plan */
function firstWarmUpOf(file: ShapingFile, { name, warmUp: plan }: Source): SourceWarmUp | undefined {
  if (plan === undefined) return undefined;
  const perDay = planOf(file, plan, name);
  if (!perDay)
    throw new ConfigError(`SMTP_URL names the warm-up plan ${plan}, which SHAPING_FILE does not have for ${name}`);
  return { plan, step: 0, perDay };
}

/** Which sources may carry an email, and what the traffic rules leave of them now. */
export class Shaping {
  readonly allowances: Allowances;
  readonly sources: readonly SourceInUse[];
  /** Tells the rules and sources of this worker from others. */
  readonly digest: string;
  readonly #file: ShapingFile;
  readonly #pools: ReadonlySet<string>;
  readonly #findProvider: ProviderFinder;
  readonly #projects = new LRUCache<string, { shaping: ProjectShaping | undefined; knownMs: number }>({
    max: POLICIES_MAX,
  });
  /** By the label of the relay, then by provider. */
  readonly #rules = new Map<string, Map<string, SourceRule>>();
  /** What sources may send to providers that rules name, and to any other one. */
  readonly #limits = new Map<string, Limits>();
  readonly #named: ReadonlySet<string>;
  readonly #hasRules: boolean;
  readonly #names: ReadonlyMap<string, string>;
  readonly #held = new HeldLines();
  readonly #now: () => number;
  /** The labels of the sources that are not drained, by pool. */
  #open: ReadonlyMap<string, readonly string[]> = new Map();
  #hasDrained = false;
  #warming: ReadonlySet<string> = new Set();
  /** What was so then is known of sources, by the clock of the database. */
  #knownMs = 0;
  #turn = 0;

  /** @throws Error when the file has no plan that a source names */
  constructor({ file, relays, resolver, workerId, now }: ShapingOptions) {
    this.#file = file;
    this.#now = now;
    this.sources = relays.map(({ label, source }) => ({ ...source, label, firstWarmUp: firstWarmUpOf(file, source) }));
    const decisive = [file, PROVIDER_RULES, relays.map(({ source: { name, kind, pool } }) => [name, kind, pool])];
    this.digest = createHash('sha256').update(JSON.stringify(decisive)).digest('base64url');
    this.#names = new Map(this.sources.map(({ label, name }) => [label, name]));
    // Pools keep to the connections of mail hosts themselves. Those of a relay are not the provider's.
    const direct = new Set(this.sources.filter(({ kind }) => kind === 'mx').map(({ name }) => name));
    const perConnectionOf = (key: string): number =>
      direct.has(partsOfAllowance(key).subject) ? MESSAGES_PER_CONNECTION_AT_ONCE : 1;
    this.allowances = new Allowances(workerId, now, perConnectionOf);
    this.#named = new Set([...PROVIDER_RULES, ...file.rules].map(({ provider }) => provider));
    this.#hasRules = this.sources.some(({ kind }) => rulesOf(file, kind).length > 0);
    this.#pools = new Set(this.sources.map(({ pool }) => pool));
    this.note({ drained: new Set(), warming: new Set() }, 0);
    this.#findProvider = createProviderFinder(resolver, providersIn(file));
  }

  /** Notes what a project says about its mail, and since when that may be otherwise, by the clock of the database. */
  learn(projectId: string, shaping: ProjectShaping | undefined, knownMs: number): void {
    // Those that are stored may have letters of all scripts.
    const rules = shaping?.rules?.map((rule) => ({ ...rule, provider: dnsDomainOf(rule.provider) })) ?? null;
    this.#projects.set(projectId, { shaping: shaping && { ...shaping, rules }, knownMs });
  }

  /** Notes the sources that are drained, and those that warm up, and since when that may be otherwise. */
  note({ drained, warming }: Pick<ProviderStates, 'drained' | 'warming'>, knownMs: number): void {
    const open = Map.groupBy(
      this.sources.filter(({ name }) => !drained.has(name)),
      ({ pool }) => pool,
    );
    this.#open = new Map([...open].map(([pool, sources]) => [pool, sources.map(({ label }) => label)]));
    this.#hasDrained = drained.size > 0;
    this.#warming = warming;
    this.#knownMs = knownMs;
  }

  /** Whether every source may carry every email of a project. */
  isPlain(projectId: string): boolean {
    if (this.#hasRules || this.#pools.size > 1 || this.#hasDrained || this.#warming.size > 0) return false;
    return !this.#projects.get(projectId)?.shaping;
  }

  /** The relays of the pool of a stream that are not drained, or why there is none. @param missed those that do not count */
  relaysOf(projectId: string, stream: MailStream, missed: readonly string[] = []): readonly string[] | Hold {
    const own = this.#projects.get(projectId)?.shaping?.pools?.[stream];
    const pool = own ?? (this.#pools.has(stream) ? stream : DEFAULT_POOL);
    const all = this.#open.get(pool) ?? [];
    const open = missed.length === 0 ? all : all.filter((label) => !missed.includes(label));
    if (open.length > 0) return open;
    const sources = this.sources.filter((each) => each.pool === pool && !missed.includes(each.label));
    if (sources.length === 0 && missed.length > 0) return open;
    const words =
      sources.length === 0
        ? `Pool ${pool}, which ${stream} mail of the project uses, has no source`
        : `Every source of pool ${pool} is drained: ${sources.map(({ name }) => name).join(', ')}`;
    const until = new Date(Date.now() + NO_SOURCE_MS).toISOString();
    return { level: 'stream', reason: 'no source', words, until, knownMs: this.#knownMsOf(projectId) };
  }

  /** The provider of a domain, by itself or by its mail servers. */
  providerOf(domain: string): string | Promise<string> {
    return this.#findProvider(domain);
  }

  /**
   * Notes emails that are about to ask for the relays of their stream.
   * @returns whether the store must be asked for what they need
   */
  async expect(projectId: string, stream: MailStream, recipients: readonly string[]): Promise<boolean> {
    if (this.isPlain(projectId)) return false;
    const labels = this.relaysOf(projectId, stream);
    if ('until' in labels) return false;
    let isShort = false;
    const note = (use: Entry, part: number): void => {
      isShort = this.allowances.expect(use, part) || isShort;
    };
    const domains = new Map<string, number>();
    for (const domain of recipients.map(dnsDomainOf)) domains.set(domain, (domains.get(domain) ?? 0) + 1);
    // The look-ups of all of them begin before the first one is waited for.
    const found = [...domains].map(([domain, count]) => ({ domain, count, looked: this.#findProvider(domain) }));
    for (const { domain, count, looked } of found) {
      const provider = typeof looked === 'string' ? looked : await looked;
      const own = this.#projectUse(provider, { projectId, domain });
      if (own) note(own, count);
      const shared = labels.map((label) => this.#ruleOf(label, provider)).filter(({ isShared }) => isShared);
      for (const rule of shared) note(this.#useOf(rule), count / shared.length);
      const warming = labels.flatMap((label) => this.#warmUpUse(label, provider, projectId) ?? []);
      for (const use of warming) note(use, count / warming.length);
    }
    return isShort;
  }

  /** The relays that may carry an email now; without one, what is missing. */
  candidates(labels: readonly string[], provider: string, { projectId, owner, domain, email }: Addressed) {
    const free: Candidate[] = [];
    let shortage: (Shortage & { knownMs: number }) | undefined;
    const note = (missing: Shortage | undefined): boolean => {
      if (missing && missing.waitMs < (shortage?.waitMs ?? Infinity)) {
        shortage = { ...missing, knownMs: this.#knownMsOf(projectId) };
      }
      return missing === undefined;
    };
    const own = this.#projectUse(provider, { projectId, domain });
    if (own && !note(this.allowances.ask(own, owner))) return { free, shortage };
    for (const label of labels) {
      const warming = this.#warmUpUse(label, provider, projectId);
      if (warming && !note(this.allowances.ask(warming, owner))) continue;
      const rule = this.#ruleOf(label, provider);
      const shared = rule.isShared ? this.#useOf(rule) : undefined;
      if (shared && !note(this.allowances.ask(shared, owner))) continue;
      const uses = [warming, shared, own].filter((use) => use !== undefined);
      free.push({ label, rule, uses, isWarming: warming !== undefined });
    }
    // Where its reputation kept the email back, a source is the last one.
    const isRefused = ({ label }: Candidate) =>
      email?.answered?.bySource[this.sourceOf(label)]?.as.includes('deferredReputation');
    const others = email?.answered ? free.filter((each) => !isRefused(each)) : free;
    return { free: others.length > 0 ? others : free, shortage };
  }

  /**
   * Chooses among candidates, those that warm up first, then those with a rule, in turns, and uses up what an email
   * needs.
   */
  choose(free: readonly Candidate[], provider: string): { rules: UsedRules; relays: string[] } | undefined {
    const warming = free.filter(({ isWarming }) => isWarming);
    const limited = warming.length > 0 ? warming : free.filter(({ rule }) => rule.isLimited);
    const chosen = limited[this.#turn++ % Math.max(1, limited.length)] ?? free[0];
    if (!chosen) return undefined;
    const { messagesPerConnection } = chosen.rule.limits;
    const rules = new UsedRules(this.allowances, chosen.uses, { provider, messagesPerConnection }, this.#now());
    return { rules, relays: limited.length > 0 ? [chosen.label] : free.map(({ label }) => label) };
  }

  /** How many emails a second go under the limit that is used up. */
  speedOf({ key, limit, value = 1 }: Shortage): number {
    const isBusy = limit === 'connections' || limit === 'messagesPerConnection';
    return isBusy ? this.allowances.endedPerSecond(key) : (value * 1_000) / RATE_MS[limit];
  }

  /** The hold of an email that a rule keeps from going. Emails that are held one after another return so, too. */
  hold(shortage: Shortage & { knownMs: number }, { owner, stream, emailId }: Held): Hold {
    const { key, limit, value, waitMs, because, knownMs } = shortage;
    this.allowances.held(key);
    const warming = partsOfWarmUp(key);
    if (warming) {
      const { source: name, provider } = warming;
      const relay = this.sources.find((each) => each.name === name)?.label;
      const words = because ?? `Source ${name} warms up, and what it may send to ${provider} today is not known yet`;
      const ms = Math.max(HELD_MS_MIN, stream === 'transactional' ? Math.min(waitMs, WARM_UP_MS) : waitMs);
      const until = new Date(Date.now() + ms).toISOString();
      const about = { provider, ...(relay !== undefined && { relay }) };
      return { level: 'provider', reason: 'warm-up', words, ...about, until, knownMs };
    }
    const { subject, provider } = partsOfAllowance(key);
    const source = this.sources.find(({ name }) => name === subject);
    const stepMs = 1_000 / Math.max(RETURNS_FACTOR * this.speedOf(shortage), RETURNS_PER_SECOND);
    const nowMs = this.#now();
    const earliestMs = nowMs + Math.max(waitMs, HELD_MS_MIN);
    const email = { rule: `${key} ${limit} ${value}`, owner, emailId };
    const returnsMs = this.#held.place(email, { earliestMs, stepMs });
    const who = source ? `source ${subject}` : 'the project';
    const what = limit === 'connections' ? 'connections' : 'messages';
    const words = `The traffic rule for ${provider} is used up: ${who} may have ${value} ${what} ${LIMIT_WORDS[limit]}`;
    return {
      level: source ? 'provider' : 'project',
      reason: 'traffic rule',
      words,
      provider,
      ...(source && { relay: source.label }),
      until: new Date(Date.now() + returnsMs - nowMs).toISOString(),
      knownMs,
    };
  }

  /** All changes before that are known, as far as they are about the mail of a project. */
  #knownMsOf(projectId: string): number {
    return Math.min(this.#knownMs, this.#projects.get(projectId)?.knownMs ?? 0);
  }

  /** The name of the source of a relay. */
  sourceOf(label: string): string {
    return this.#names.get(label) ?? label;
  }

  /** The use of the warm-up of a relay's source; undefined when it does not warm up. */
  #warmUpUse(label: string, provider: string, projectId: string): Entry | undefined {
    if (this.#warming.size === 0) return undefined;
    const name = this.sourceOf(label);
    if (!this.#warming.has(name)) return undefined;
    return this.allowances.entry(warmUpKey(projectId, name, provider), WARM_UP_LIMITS);
  }

  #useOf(rule: SourceRule): Entry {
    if (!rule.use || rule.use.isForgotten) rule.use = this.allowances.entry(rule.key, rule.limits);
    return rule.use;
  }

  #ruleOf(label: string, provider: string): SourceRule {
    const rules = this.#rules.get(label) ?? new Map<string, SourceRule>();
    const known = rules.get(provider);
    if (known) return known;
    const limits = this.#limitsOf(label, this.#named.has(provider) ? provider : ANY);
    const names = Object.keys(limits);
    const isShared = names.some((name) => name !== 'messagesPerConnection');
    const key = allowanceKey(this.sourceOf(label), provider);
    const rule = { key, limits, isLimited: names.length > 0, isShared };
    if (rules.size > LIMITS_MAX) rules.clear();
    this.#rules.set(label, rules.set(provider, rule));
    return rule;
  }

  #limitsOf(label: string, provider: string): Limits {
    const key = `${label} ${provider}`;
    const source = this.sources.find((each) => each.label === label);
    const limits = this.#limits.get(key) ?? (source ? sourceLimits(this.#file, source, provider) : {});
    this.#limits.set(key, limits);
    return limits;
  }

  /**
   * The use of a project's own rules, if they limit anything. Each limit comes from the most specific rule that has it:
   * that for the recipient's domain, which is then a provider of its own, that for the provider, or that for all.
   */
  #projectUse(provider: string, { projectId, domain }: Omit<Addressed, 'owner' | 'email'>): Entry | undefined {
    const all = this.#projects.get(projectId)?.shaping?.rules;
    if (!all) return undefined;
    const rules = [domain, provider, ANY].flatMap((name) => all.find((rule) => rule.provider === name) ?? []);
    const limits = Object.fromEntries(
      RATES.flatMap((rate) => {
        const value = rules.find((rule) => rule[rate] !== undefined)?.[rate];
        return typeof value === 'number' ? [[rate, value]] : [];
      }),
    );
    if (Object.keys(limits).length === 0) return undefined;
    const isApart = rules.some((rule) => rule.provider === domain);
    return this.allowances.entry(allowanceKey(projectSubject(projectId), isApart ? domain : provider), limits);
  }
}
