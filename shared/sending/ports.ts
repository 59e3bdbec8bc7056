import type { DeliveryVerdict } from '../pure/emails/delivery-retry.ts';
import type { Hold } from '../pure/emails/hold.ts';
import type { ProjectShaping } from '../pure/traffic-rules.ts';
import type { SourceWarmUp, WarmUpOutcome } from '../pure/warm-up.ts';
import type { AllowanceRequest, Lease } from './permit/allowance.ts';
import type { Answers, CountedAnswers } from './permit/answers.ts';
import type { ProviderHealth, ProviderReport } from './permit/health.ts';
import type { RawMessage } from './transport/data-content.ts';
import type { SpanParent } from './send-span.ts';
import type { SmtpEnvelope } from './transport/message.ts';
import type { SmtpUrgency } from './transport/message-queue.ts';
import type { Source } from './transport/smtp-url.ts';
import type { RefusalKind, RefusalVerdict } from './verdict/judge-refusal.ts';

/** The earlier attempts of an email. */
export interface AttemptLedger {
  emailId: string;
  subject: string | null;
  deferrals: number;
  uncertainAttempts: number;
  /** The time since which its provider has held it up; null when it has not. */
  heldAt: Date | null;
  /** What was counted of its earlier attempts; null before a server has put it off. */
  answered: CountedAnswers | null;
}

/** Why an email was refused, as it is kept with the email. */
export interface RecordedRefusal {
  kind: RefusalKind;
  /** The id of the rule that decided. */
  rule: string;
  /** The server that refused: the relay, or the server named in a report; missing when unknown. */
  server?: string | undefined;
}

/** What became of one email. `skipped` and `suppressed` were never handed to a server. */
export interface DeliveryResult {
  emailId: string;
  verdict: DeliveryVerdict | 'skipped' | 'suppressed';
  /** The subject as the recipient saw it; null when it is the campaign's own. */
  subject: string | null;
  /** The words of the server, or Everpost's own. */
  error: string | null;
  /** Set for an email that a server refused and that is not tried again. */
  refusal?: RecordedRefusal;
  /** The server that did not accept it; empty when unknown, missing when no server was asked. */
  server?: string | undefined;
  /** Set for an email that is held. */
  held?: Hold;
  /** The source that carried it and the provider that took it, as a key of their allowance. */
  carrier?: string;
  /** What has been counted of an email that a server did not accept. */
  answered?: CountedAnswers;
}

/** Further facts about an outcome. */
export interface OutcomeAssessment {
  verdict?: RefusalVerdict;
  /** The email waits without a counted attempt: the server limits the speed, or refuses all our emails. */
  hold?: Hold;
  /** What is kept with the email for the numbers of its source. */
  kept?: Pick<DeliveryResult, 'carrier' | 'answered'>;
}

/** The known states of providers and relays, by their keys; those without trouble are left out. */
export interface ProviderStates {
  /** The time of the database, which the times in the states refer to. */
  nowMs: number;
  states: Map<string, ProviderHealth>;
  /** The state of each key of the reports, before and after this call. */
  changes: { key: string; before: ProviderHealth; after: ProviderHealth }[];
  /** The names of the sources that are drained, and of those that warm up. */
  drained: ReadonlySet<string>;
  warming: ReadonlySet<string>;
}

/** What a worker may use. */
export interface Lent {
  /** What traffic rules and warm-ups lend, by the keys of the requests. */
  leases: ReadonlyMap<string, Lease>;
  /** The days of warm-ups that this call has decided. */
  decided: readonly WarmUpDecision[];
}

/** How a warm-up goes on at a provider; without one, the warm-up of the source is finished. */
export interface WarmUpDecision {
  source: string;
  provider?: string;
  outcome: Exclude<WarmUpOutcome, 'same'> | 'finished';
  reason: string | null;
}

/** A source of a worker. */
export interface SourceInUse extends Source {
  label: string;
  /** The warm-up that begins when the source is met for the first time. */
  firstWarmUp?: SourceWarmUp | undefined;
}

/** The sources of a worker, and the rules by which it uses them. */
export interface SourceUse {
  sources: readonly SourceInUse[];
  /** A digest of its rules and sources, and for how long it has them, unless it says so again. */
  rules?: { digest: string; seconds: number };
}

/** Emails of a project that were handed over. */
export interface SentCount {
  projectId: string;
  provider: string;
  count: number;
}

/** What a provider made of emails of a source. */
export interface AnswerCount {
  source: string;
  provider: string;
  answers: Answers;
}

/** What was counted since the last exchange. A pair of names may occur several times. */
export interface EmailNumbers {
  sent: readonly SentCount[];
  answers: readonly AnswerCount[];
}

/** Emails of a project that wait together. */
export type Stream = 'transactional' | 'campaign';

/** What a project may send now. */
export interface ProjectPolicy {
  /** Emails a second; 0 is unlimited. */
  ratePerSecond: number;
  /** All changes of the project before this time are known, in milliseconds since 1970 by the clock of the database. */
  knownMs: number;
  /** Why all its emails wait, if they do. */
  hold?: Hold;
  /** The pools of its streams, and its own traffic rules; missing when it has none. */
  shaping?: ProjectShaping;
}

export interface BookingRequest {
  projectId: string;
  count: number;
  ratePerSecond: number;
  /** Goes ahead of bookings that are not urgent, so a transactional email does not wait behind a campaign. */
  isUrgent: boolean;
}

/** What all workers know together about the speed and the health of projects, providers and relays. */
export interface PermitStore {
  /** The rate of a project, or why it may not send; undefined when it is gone. */
  policyOf: (projectId: string) => Promise<ProjectPolicy | undefined>;
  /** Reserves sending speed of a project. @returns the time until the first of its emails may go, in milliseconds */
  reserve: (request: BookingRequest) => Promise<number>;
  /** Stores why the emails of a stream wait. */
  note: (projectId: string, stream: Stream, hold: Hold) => Promise<void>;
  /**
   * Applies the reports of a worker to the states of providers, and reads the states that all workers have written.
   * @param relays the relays whose states are read
   * @param reports by `healthKey`
   */
  exchange: (
    relays: readonly string[],
    reports: ReadonlyMap<string, ProviderReport>,
    counts: EmailNumbers,
    use: SourceUse,
  ) => Promise<ProviderStates>;
  /** Lends a worker what its emails need. They wait for it, so nothing else belongs here. */
  lend: (requests: ReadonlyMap<string, AllowanceRequest>) => Promise<Lent>;
}

/** An email to be sent. It is composed at the last moment, so that memory holds only messages in flight. */
export interface PreparedEmail extends AttemptLedger {
  envelope: SmtpEnvelope;
  /** The time of the request; missing for campaigns. */
  queuedAt?: Date;
  /** Whether it is marketing mail, which has a pool of its own; campaigns always are. */
  isMarketing?: boolean;
  /** @throws UnsendableEmailError */
  compose: () => RawMessage | Promise<RawMessage>;
}

/** An email whose message cannot be composed because of an unexpected error. */
export interface UnpreparedEmail extends AttemptLedger {
  cause: unknown;
}

/** An email to be sent, or one that has its result already. */
export type EmailToSend = PreparedEmail | UnpreparedEmail | DeliveryResult;

/** Answers emails to some addresses in place of a server. */
export interface SandboxPort {
  /** The result of an email; undefined when a server must take it. */
  answer: (email: AttemptLedger, to: string) => DeliveryResult | undefined;
  /** Notes that results are recorded, so that later actions may follow. */
  noteRecorded: (results: readonly DeliveryResult[]) => void;
  /** Does what follows from recorded results. What fails is done by the next call. */
  followUp: () => Promise<void>;
}

/** The right to record the results of messages that are claimed together. A later claim of the same scope ends it. */
export interface Claim {
  /** Names the messages, such as those of one delivery or of one page. It becomes part of the name of a file. */
  scope: string;
  claimToken: string;
  projectId: string;
}

/** Stores results for good. */
export interface ResultSink<C extends Claim> {
  /**
   * Records results, as long as the claim counts. To record the same results again changes nothing.
   * @returns whether more messages of the claim may be sent
   */
  record: (claim: C, results: DeliveryResult[]) => Promise<{ mayContinue: boolean }>;
}

/** Emails that are taken one by one, so that only those about to be sent are prepared; or slices of them, loaded on demand. */
export type Emails = Iterable<EmailToSend> | AsyncIterable<Iterable<EmailToSend>>;

/** What a batch may do while some of its emails cannot go. */
export interface BatchWaits {
  /**
   * Loads the emails again that are due by now, beside others that are on their way; missing where another attempt may
   * have them.
   * @param isTaken whether the batch still has an email
   */
  again?: ((isTaken: (emailId: string) => boolean) => Emails) | undefined;
  /** Whether no other emails wait for the end of the batch. */
  isAll?: boolean | undefined;
}

/** Emails that are loaded and sent together. */
export interface EmailBatch extends BatchWaits {
  /** The largest number of emails. */
  size: number;
  /** The memory that the batch needs if its messages are large: once for the batch, and for each message. */
  memory?: { sharedBytes: number; messageBytes: number };
  load: () => Emails | Promise<Emails>;
}

/** Emails for which an attempt takes sending speed together. */
export interface EmailPart {
  /** The number of emails that take speed. */
  paced: number;
  /** The number of emails that follow later. */
  left: number;
  batches: Iterable<EmailBatch>;
}

/** The emails of one attempt. */
export interface EmailSource<C extends Claim> {
  urgency: SmtpUrgency;
  /** The claim of these emails with a token. */
  claimWith: (claimToken: string) => C;
  /** Makes a claim the only one that counts. */
  claim: (claim: C) => Promise<void>;
  /** The claimed emails. @param limit the most emails of a part */
  parts: (limit?: number) => AsyncIterable<EmailPart>;
  /** The span that an email belongs to; undefined for an email that is not traced. */
  traceOf: (emailId: string) => SpanParent | undefined;
  /** Gives up the claims of emails without a result. @param decided the number of recorded results */
  release?: (decided: number) => Promise<void>;
}

/** The sending speed of a project, from which an attempt takes a part. */
export interface Speed {
  /** The number of emails that the attempt may send. */
  size: () => number;
  /**
   * Takes speed for a number of emails.
   * @param waits whether the attempt waits for it, because it cannot end yet
   * @returns the function to await before each of them
   * @throws the error that repeats the attempt when the speed is free, if it does not wait
   */
  take: (count: number, waits: boolean) => Promise<() => Promise<void>>;
  /** Takes speed for the next attempt at this number of emails. @returns the error that repeats the attempt then */
  next: (count: number) => Promise<Error>;
}

/** Emails that servers accepted under a claim, and whose results could not be recorded before the attempt ended. */
export interface CarriedEmails {
  claimToken: string;
  emailIds: string[];
}
