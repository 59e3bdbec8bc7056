import { CarriedMessages } from './carried-messages.ts';
import { openSmtpConnection } from './connect.ts';
import { MESSAGES_PER_TURN, UNPROVED_MAX } from './connection-budget.ts';
import { ConnectionShare } from './connection-share.ts';
import { Conversation } from './conversation.ts';
import type { RawMessage } from './data-content.ts';
import { ConnectionFault, NoOtherServerError, SmtpUnavailableError } from './errors.ts';
import { IdleSessions } from './idle-sessions.ts';
import type { SmtpEnvelope, SmtpOutcome } from './message.ts';
import { MessageQueue, URGENCIES, type QueuedMessage, type SmtpUrgency } from './message-queue.ts';
import { Openings, type Opening } from './openings.ts';
import { RuledConnections } from './ruled-connections.ts';
import { timeoutsOf } from './reply-timeouts.ts';
import { ServerHealth, type PoolServer } from './server-health.ts';
import { Silence } from './silence.ts';
import { interruption, isAboutOthers, type MessageState } from './transaction.ts';
import type { PoolOptions, SendOptions } from './pool-options.ts';
import type { RelayState } from './relay-state.ts';
import type { Session } from './session.ts';

const MESSAGES_PER_CONNECTION = 500;
const IDLE_TIMEOUT_MS = 10_000;

/** Holds the connections and the waiting messages, and decides which message goes over which connection. */
export class Pool {
  readonly #options: PoolOptions;
  readonly #openConnection: typeof openSmtpConnection;
  readonly #health: ServerHealth;
  readonly #share: ConnectionShare;
  readonly #queue = new MessageQueue();
  /** Every session that can still carry a message. */
  readonly #sessions = new Set<Session>();
  readonly #quitting = new Set<Session>();
  readonly #idle: IdleSessions<Session>;
  readonly #openings: Openings;
  readonly #silence: Silence;
  readonly #ruled = new RuledConnections((label) => ({
    pump: () => this.pump(),
    endIdle: () => this.#endIdle((session) => session.server.options.label === label),
  }));
  #sending = 0;
  #latestFailure: SmtpUnavailableError | undefined;
  #isPumpDue = false;
  #closing: Promise<void> | undefined;
  #onDrained: (() => void) | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#openConnection = options.open ?? openSmtpConnection;
    this.#health = new ServerHealth(options.servers, options.logger, options.backoff);
    this.#share = new ConnectionShare(options.maxConnections, this.#health);
    this.#openings = new Openings((server, opening) => this.#lookAgain(server, opening), options.budget !== undefined);
    this.#silence = new Silence(this.#openings, this.#sessions, this, options.budget);
    this.#idle = new IdleSessions(options.idleTimeoutMs ?? IDLE_TIMEOUT_MS, (session) => this.#retire(session));
  }

  usage = () => ({ connections: this.#sessions.size, sending: this.#sending, queued: this.#queue.size });

  relays = (): RelayState[] => this.#health.states();

  /** See {@link ServerHealth} for both. */
  restsUntilMs = (avoid?: ReadonlySet<string>): number | undefined => this.#health.restsUntilMs(avoid);
  brokenHosts = (): ReadonlySet<string> => this.#health.brokenHosts();

  /** @param envelope as `toWireEnvelope` returns it */
  send(envelope: SmtpEnvelope, raw: RawMessage, options: SendOptions): Promise<SmtpOutcome> {
    const { signal, urgency = 'transactional', isAlone = false, avoid, limits, onSilence } = options;
    return new Promise((resolve, reject) => {
      if (this.#closing) throw new SmtpUnavailableError('The SMTP pool is closed');
      signal?.throwIfAborted();
      if (limits && this.#options.budget) this.#ruled.note(limits, this.#health.labels, avoid);
      if (this.#queue.size === 0) this.#health.beginSearch();
      const wish = { urgency, isAlone, avoid, limits, signal, onSilence };
      this.#queue.add({ envelope, raw, ...wish, isRetry: false, resolve, reject });
      this.pump();
    });
  }

  isClosed(): boolean {
    return this.#closing !== undefined;
  }

  close(timeoutMs: number): Promise<void> {
    // Set before draining starts, because draining releases sessions, which read it.
    this.#closing ??= Promise.resolve().then(() => this.#drain(timeoutMs));
    return this.#closing;
  }

  /** Assigns waiting messages to idle sessions, and opens sessions for the others within the limits. */
  pump(): void {
    if (this.#closing || this.#queue.size === 0) return;
    // One after another: what one session takes is gone for the next, and may use up the share of its urgency.
    for (const session of this.#idle.newestFirst()) {
      if (this.#share.nextUrgency(this.#queue, session) === undefined) continue;
      this.#idle.remove(session);
      session.conversation.wake();
    }
    this.#endAvoidedIdle();
    if (this.#openWanted()) this.#refuseStranded();
    this.#silence.leave(this.#queue, this.#health.connections);
  }

  /** Opens connections for the waiting messages. @returns false when it waits for the connections of other pools */
  #openWanted(): boolean {
    const { budget } = this.#options;
    const most = budget && !this.#silence.isProved ? UNPROVED_MAX : Infinity;
    const own = Math.min(this.#share.wanted(this.#queue), Math.min(this.#roomMax, most) - this.#health.connections);
    const free = budget?.free(this.#queue.hasUrgent) ?? own;
    for (let wanted = own; wanted > 0; wanted -= 1) {
      const isWaiting = (label: string): boolean => this.#queue.isWaitingFor(label);
      const server = this.#health.pick(({ options: { label } }) => isWaiting(label) && this.#ruled.hasRoom(label));
      if (!server) return !this.#ruled.want(isWaiting);
      if (own - wanted >= free) {
        budget?.want(this);
        return false;
      }
      void this.#open(server);
    }
    return true;
  }

  /** Ends idle connections to servers that waiting messages avoid, if these need the connections elsewhere. */
  #endAvoidedIdle(): void {
    if (!this.#queue.hasAvoiding) return;
    let missing = this.#share.wanted(this.#queue) - (this.#options.maxConnections - this.#health.connections);
    for (const session of this.#idle.newestFirst()) {
      if (missing <= 0 && !this.#isNeededElsewhere(session)) return;
      if (this.#queue.isWaitingFor(session.server.options.label)) continue;
      this.#idle.remove(session);
      this.#retire(session);
      missing -= 1;
    }
  }

  /** Rejects messages for which no connection will be opened. */
  #refuseStranded(): void {
    if (this.#queue.hasAvoiding) this.#queue.refuseAvoiding(this.#health.reachable(), () => new NoOtherServerError());
    if (this.#health.connections === 0) {
      this.#queue.refuse(this.#latestFailure ?? new SmtpUnavailableError('There is no SMTP server to send to'));
    } else if (this.#queue.retries > 0 && this.#health.openings === 0) {
      this.#queue.demoteRetries();
      this.#pumpSoon();
    }
  }

  /** The most connections of this pool now, at least one for each source, because a message may need that one. */
  get #roomMax(): number {
    const share = this.#options.budget?.share(this.#queue.hasUrgent) ?? Infinity;
    return Math.min(this.#options.maxConnections, Math.max(share, this.#health.labels.length));
  }

  #pumpSoon(): void {
    if (this.#isPumpDue) return;
    this.#isPumpDue = true;
    queueMicrotask(() => {
      this.#isPumpDue = false;
      this.pump();
    });
  }

  async #open(server: PoolServer): Promise<void> {
    this.#health.opening(server);
    this.#options.budget?.opened(this);
    this.#ruled.opened(server.options.label);
    const opening = this.#openings.begin(server);
    try {
      const connection = await this.#openConnection(server.options, opening.signal);
      this.#health.opened(server, connection.isInClear);
      this.#openings.opened(server, opening);
      this.#silence.heard(opening);
      const timeouts = timeoutsOf(server.options.replyTimeoutMs, this.#openings.silenceMs);
      const session: Session = {
        conversation: new Conversation<QueuedMessage>(connection, timeouts, {
          next: (behind) => (behind ? this.#nextBehind(session, behind) : this.#next(session)),
          done: (message, outcome) => this.#onDone(session, message, outcome),
          failed: (message, fault, state) => this.#onFailed(session, message, fault, state),
          idle: () => this.#release(session),
          silent: (messages) => {
            this.#silence.note(session, messages);
            this.pump();
          },
          heard: () => {
            this.#silence.heard(session);
            this.#pumpSoon();
          },
          ended: () => this.#onEnded(session),
        }),
        server,
        isApart: false,
        carries: undefined,
        carried: new CarriedMessages(connection.capabilities, server.options),
      };
      this.#sessions.add(session);
      session.conversation.wake();
    } catch (error) {
      this.#health.openingEnded(server);
      this.#options.budget?.ended(this, opening);
      this.#ruled.ended(server.options.label);
      this.#openings.end(server, opening);
      if (this.#closing) this.#checkDrained();
      else if (opening.isGivenUp) this.#pumpSoon();
      else this.#onOpeningFailed(server, error as SmtpUnavailableError);
    }
  }

  /** Tries a fresh connection to a server that is silent on those being opened, if it has no other and is needed. */
  #lookAgain(server: PoolServer, opening: Opening): void {
    if (this.#options.budget) {
      this.#silence.setApart(opening, () => this.#openings.endSilent(server));
      this.pump();
      return;
    }
    if (!this.#openings.isLatest(server, opening)) return;
    if (this.#closing || server.connections > server.openings) return;
    if (!this.#queue.isWaitingFor(server.options.label)) return;
    if (this.#health.connections >= this.#options.maxConnections) this.#openings.makeRoom(server);
    void this.#open(server);
  }

  #onOpeningFailed(server: PoolServer, error: SmtpUnavailableError): void {
    this.#latestFailure = error;
    // The oldest was silent for as long as RFC 5321 allows. Messages must not wait for those that were tried beside it.
    if (error.code === 'ETIMEDOUT' && server.connections === server.openings) this.#openings.giveUp(server);
    this.#health.openingFailed(server, error);
    this.pump();
  }

  #isSpent(session: Session): boolean {
    const messagesMax = this.#options.messagesPerConnection ?? MESSAGES_PER_CONNECTION;
    const count = session.conversation.messageCount;
    if (this.#closing !== undefined || session.carried.isFull || count >= messagesMax) return true;
    if (count >= MESSAGES_PER_TURN && this.#isWanted(session)) return true;
    if (count > 0 && this.#health.isPassedOver(session.server)) return true;
    return this.#isNeededElsewhere(session);
  }

  /** Whether messages that avoid its server need its connection. */
  #isNeededElsewhere({ server }: Session): boolean {
    return this.#queue.hasAvoiding && this.#share.isNeededElsewhere(this.#queue, server, this.#roomMax);
  }

  /** Whether another pool needs its connection. */
  #isWanted({ server: { options } }: Session): boolean {
    return this.#options.budget !== undefined && (this.#options.budget.isWanted || this.#ruled.isWanted(options.label));
  }

  #next(session: Session): QueuedMessage | undefined {
    if (this.#isSpent(session)) return undefined;
    const isFresh = session.conversation.messageCount === 0;
    const { label } = session.server.options;
    const message = session.carried.firstOf(() => {
      const urgency = this.#share.nextUrgency(this.#queue, session);
      return (isFresh ? this.#queue.takeRetry(label) : undefined) ?? (urgency && this.#queue.take(urgency, label));
    });
    this.#carry(session, message?.urgency);
    return message && this.#begin(session, message);
  }

  /**
   * The message to announce behind another: one of the same urgency, if it would not be sent sooner over another
   * connection.
   */
  #nextBehind(session: Session, { urgency }: QueuedMessage): QueuedMessage | undefined {
    if (this.#isSpent(session) || this.#canGrow(urgency)) return undefined;
    const { label } = session.server.options;
    if (URGENCIES.find((each) => this.#queue.waiting(each, label) > 0) !== urgency) return undefined;
    const message = session.carried.firstOf(() =>
      this.#queue.peek(urgency, label)?.isAlone ? undefined : this.#queue.take(urgency, label),
    );
    return message && this.#begin(session, message);
  }

  #begin(session: Session, message: QueuedMessage): QueuedMessage {
    this.#sending += 1;
    if (message.limits) session.carried.note(message.limits);
    message.limits?.begun?.();
    return message;
  }

  /** Whether messages of an urgency will soon have one more connection. */
  #canGrow(urgency: SmtpUrgency): boolean {
    if (this.#share.freeConnections(urgency) <= 0) return false;
    const isUseful = (server: PoolServer) => this.#queue.waiting(urgency, server.options.label) > 0;
    if (this.#health.openings > 0 || this.#idle.some(({ server }) => isUseful(server))) return true;
    if (this.#options.budget?.free(urgency !== 'campaign') === 0) return false;
    return this.#health.connections < this.#roomMax && this.#health.pick(isUseful) !== undefined;
  }

  #carry(session: Session, urgency: SmtpUrgency | undefined): void {
    if (session.carries === urgency) return;
    this.#share.changed(session.server, session.carries, urgency);
    session.carries = urgency;
    // An idle connection may now carry a message that it might not carry before.
    if (this.#queue.size > 0 && this.#idle.size > 0) this.#pumpSoon();
  }

  /** Keeps a session without a message for later, or retires it. */
  #release(session: Session): void {
    const { budget } = this.#options;
    const { label } = session.server.options;
    if (this.#isSpent(session) || this.#isWanted(session)) {
      this.#retire(session);
      this.#pumpSoon();
      return;
    }
    this.#idle.add(session);
    budget?.noteIdle(this);
    this.#ruled.noteIdle(label);
  }

  /** Ends the connection that was idle first. @returns whether more are idle */
  endIdle(): boolean {
    return this.#endIdle(() => true);
  }

  #endIdle(isMeant: (session: Session) => boolean): boolean {
    const oldest = this.#idle.newestFirst().findLast(isMeant);
    for (const session of this.#idle.takeAll((each) => each === oldest)) this.#retire(session);
    return this.#idle.some(isMeant);
  }

  /** Ends the connection of a session without a message. */
  #retire(session: Session): void {
    this.#leave(session);
    this.#quitting.add(session);
    session.conversation.quit();
  }

  #leave(session: Session): void {
    if (!this.#sessions.delete(session)) return;
    this.#carry(session, undefined);
    this.#health.ended(session.server);
    this.#options.budget?.ended(this, session);
  }

  #onDone(session: Session, message: QueuedMessage, outcome: SmtpOutcome): void {
    this.#sending -= 1;
    if (this.#silence.decided()) this.#pumpSoon();
    this.#health.decided(session.server, outcome);
    const { host, exchange: server = host, label: relay } = session.server.options;
    message.resolve(outcome.kind === 'interrupted' ? { ...outcome, relay } : { ...outcome, server, relay });
  }

  #onFailed(session: Session, message: QueuedMessage, fault: ConnectionFault, state: MessageState): void {
    const mayGoAgain = state.isBystander || (!message.isRetry && isAboutOthers(state, fault, message));
    if (!mayGoAgain && state.deferral) {
      this.#onDone(session, message, state.deferral);
      return;
    }
    this.#sending -= 1;
    if (fault.code === 'ETIMEDOUT') this.#silence.timedOut();
    if (mayGoAgain || (this.#closing && !state.hasContentStarted)) {
      if (this.#closing) message.reject(new SmtpUnavailableError('The SMTP pool is closed'));
      else if (state.isBystander) {
        this.#queue.putBack(message);
        this.#pumpSoon();
      } else {
        // Other idle connections to this server are probably closed as well.
        for (const other of this.#idle.takeAll((each) => each.server === session.server)) this.#retire(other);
        this.#queue.addRetry(message);
      }
      return;
    }
    const { stage, mayHaveBeenAccepted } = state;
    this.#health.interrupted(session.server, { code: fault.code, stage, mayHaveBeenAccepted });
    const { exchange: server, label: relay } = session.server.options;
    message.resolve({ ...interruption(fault, state), ...(server !== undefined && { server }), relay });
  }

  #onEnded(session: Session): void {
    this.#quitting.delete(session);
    this.#idle.remove(session);
    this.#leave(session);
    this.#ruled.ended(session.server.options.label);
    this.#pumpSoon();
    this.#checkDrained();
  }

  #checkDrained(): void {
    if (this.#quitting.size === 0 && this.#health.connections === 0) this.#onDrained?.();
  }

  async #drain(timeoutMs: number): Promise<void> {
    this.#queue.refuse(new SmtpUnavailableError('The SMTP pool is closed'));
    this.#openings.abort();
    const drained = new Promise<void>((resolve) => {
      this.#onDrained = resolve;
    });
    for (const session of this.#idle.takeAll(() => true)) this.#retire(session);
    for (const session of this.#sessions) session.conversation.finish();
    this.#checkDrained();
    const timer = setTimeout(() => {
      const cut = new ConnectionFault('EABORTED', 'the connection was cut because the sender shuts down');
      for (const session of [...this.#sessions, ...this.#quitting]) session.conversation.fail(cut);
      this.#onDrained?.();
    }, timeoutMs);
    await drained;
    clearTimeout(timer);
  }
}
