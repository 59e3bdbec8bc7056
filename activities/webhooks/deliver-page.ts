import {
  findWaitingContacts,
  passOver,
  recordDeliveries,
  type DeliveryRecord,
  type OpenEndpoint,
  type ParkedDelivery,
} from '../../shared/domain/webhooks/delivery-state.ts';
import { loadEvents, pageBehind, type EventRef, type HookEvent } from '../../shared/domain/webhooks/hook-events.ts';
import { shuffle } from '../../shared/platform/shuffle.ts';
import type { ActivityDeps } from '../deps.ts';
import { batchMessages, singleMessage, type HookMessage } from './hook-message.ts';
import { sendLanes, type HookAnswer, type LaneOptions } from './send-lanes.ts';

export interface PageResult {
  /** How many events were read; 0 when nothing is due. */
  seen: number;
  /** The number of requests. */
  sent: number;
  /** The endpoint accepted nothing, so it gets a pause. */
  hasFailed: boolean;
  isGone: boolean;
}

type SendOptions = Pick<LaneOptions, 'send' | 'isOver'>;

/** Concurrent requests to one endpoint. */
const PARALLEL = 10;
/** With this many parked events, an endpoint that accepts events gets these before new ones. */
export const PARKED_MAX = 2_000;
const RETRY_AFTER_MS_MAX = 60 * 60_000;

const keyOf = ({ at, source, id }: EventRef): string => `${at}|${source}|${id}`;

/**
 * Divides events into lanes: the events of one contact in their order, and each event without a contact in its own
 * lane.
 */
function lanesOf(endpointId: string, events: readonly HookEvent[]): HookMessage[][] {
  const lanes = Map.groupBy(events, (event) => event.contactId ?? keyOf(event));
  return [...lanes.values()].map((lane) => lane.map((event) => singleMessage(endpointId, event)));
}

/** What is recorded of an event that was not sent. */
const UNSENT = {
  status: 'RETRYING',
  count: 1,
  attempts: 0,
  statusCode: null,
  error: null,
  durationMs: null,
  retryInMs: null,
} as const;

function recordOf(event: HookEvent, fields: Partial<DeliveryRecord>): DeliveryRecord {
  const { no, at, source, id, name, contactId } = event;
  return { no, at, source, id, name, contactId, ...UNSENT, ...fields };
}

/** The record of a request, under the first of its events. */
function recordOfAnswer(answer: HookAnswer, fields: Partial<DeliveryRecord> = {}): DeliveryRecord[] {
  const { events } = answer.message;
  const { statusCode, error, durationMs, isAccepted } = answer;
  const status = isAccepted ? 'DELIVERED' : 'RETRYING';
  return events
    .slice(0, 1)
    .map((first) =>
      recordOf(first, { count: events.length, status, attempts: 1, statusCode, error, durationMs, ...fields }),
    );
}

/** The pause after a number of attempts; after the last configured pause it stays the same. */
function pauseAfter(pauses: readonly number[], attempts: number, answers: readonly HookAnswer[]): number {
  const pause = pauses[Math.min(attempts, pauses.length) - 1] ?? 0;
  const asked = Math.max(0, ...answers.map((answer) => answer.retryAfterMs ?? 0));
  return Math.max(pause, Math.min(asked, RETRY_AFTER_MS_MAX));
}

function pausesOf({ config }: ActivityDeps): number[] {
  return config.WEBHOOK_RETRY_SECONDS.map((seconds) => seconds * 1_000);
}

export type PageDelivery = (
  endpoint: OpenEndpoint,
  page: { /** The number of events to read. */ rows: number; /** The number of parked events. */ parked: number },
  options: SendOptions,
) => Promise<PageResult>;

/** Creates the delivery of the next events after the position of an endpoint. It records the results. */
export function createPageDelivery(deps: ActivityDeps): PageDelivery {
  const em = () => deps.orm.em.fork();
  const pauses = pausesOf(deps);

  /**
   * Records that no event was accepted: all events wait in their order. When none was sent, because the turn is over,
   * there is nothing to record. A server that has answered may accept other events than those it refuses. So single
   * events `aside` are parked when each that comes first was refused, or after as long as one event is tried; none is
   * given up before the server accepts something.
   */
  async function recordFailure(
    endpoint: OpenEndpoint,
    answers: HookAnswer[],
    { seen, aside }: { seen: number; aside?: { events: readonly HookEvent[]; lastNo: string; isEachRefused: boolean } },
  ): Promise<PageResult> {
    const result = { seen, sent: answers.length, hasFailed: answers.length > 0 };
    if (!result.hasFailed) return { ...result, isGone: false };
    const pauseMs = pauseAfter(pauses, endpoint.failures + 1, answers);
    const hasAnswered = answers.every(({ statusCode }) => statusCode !== null);
    const parked = hasAnswered && (aside?.isEachRefused || endpoint.failures >= pauses.length) ? aside : undefined;
    const records = parked
      ? parkOthers(parked.events, answers, pauseMs)
      : answers.flatMap((answer) => recordOfAnswer(answer));
    await recordDeliveries(em(), endpoint, { records, verdict: 'failed', pauseMs, reached: parked?.lastNo });
    return { ...result, isGone: answers.some((answer) => answer.isGone) };
  }

  /** Events that were not accepted are parked, so that delivery continues without them. @param pauseMs of each of them */
  function parkOthers(
    events: readonly HookEvent[],
    answers: readonly HookAnswer[],
    pauseMs?: number,
  ): DeliveryRecord[] {
    const answered = new Map(answers.map((answer) => [answer.message.events[0], answer]));
    return events.flatMap((event) => {
      const answer = answered.get(event);
      if (!answer) return [recordOf(event, { retryInMs: pauseMs ?? 0 })];
      return recordOfAnswer(answer, answer.isAccepted ? {} : { retryInMs: pauseMs ?? pauseAfter(pauses, 1, [answer]) });
    });
  }

  async function deliverBatches(
    endpoint: OpenEndpoint,
    events: HookEvent[],
    lastNo: string,
    { send, isOver }: SendOptions,
  ): Promise<PageResult> {
    const messages = batchMessages(endpoint.id, events, endpoint.batchSize);
    const answers = await sendLanes([messages], { send, isOver, parallel: 1 });
    const accepted = answers.filter((answer) => answer.isAccepted);
    if (accepted.length === 0) return recordFailure(endpoint, answers, { seen: events.length });
    const reached = accepted.length === messages.length ? lastNo : accepted.at(-1)?.message.events.at(-1)?.no;
    const records = accepted.flatMap((answer) => recordOfAnswer(answer));
    await recordDeliveries(em(), endpoint, { records, verdict: 'accepted', reached });
    return { seen: events.length, sent: answers.length, hasFailed: false, isGone: false };
  }

  async function deliverSingles(
    endpoint: OpenEndpoint,
    events: HookEvent[],
    { lastNo, parked }: { lastNo: string; parked: number },
    { send, isOver }: SendOptions,
  ): Promise<PageResult> {
    const contactIds = [...new Set(events.flatMap((event) => event.contactId ?? []))];
    const waiting = parked > 0 ? await findWaitingContacts(em(), endpoint.id, contactIds) : new Set<string>();
    const open = events.filter((event) => event.contactId === null || !waiting.has(event.contactId));
    const lanes = lanesOf(endpoint.id, open);
    // In another order each time, so that events that the endpoint never accepts hide no others behind them.
    const ordered = endpoint.failures > 0 ? shuffle(lanes) : lanes;
    const answers = await sendLanes(ordered, { send, isOver, parallel: PARALLEL });
    if (open.length > 0 && !answers.some((answer) => answer.isAccepted)) {
      const isEachRefused = answers.length === lanes.length;
      return recordFailure(endpoint, answers, { seen: events.length, aside: { events, lastNo, isEachRefused } });
    }
    // When all events wait behind parked ones, nothing was sent, which says nothing about the endpoint.
    const verdict = open.length > 0 ? 'accepted' : 'unknown';
    await recordDeliveries(em(), endpoint, { records: parkOthers(events, answers), verdict, reached: lastNo });
    return { seen: events.length, sent: answers.length, hasFailed: false, isGone: false };
  }

  return async (endpoint, { rows, parked }, options) => {
    const nothing: PageResult = { seen: 0, sent: 0, hasFailed: false, isGone: false };
    if (parked >= PARKED_MAX && endpoint.failures === 0) return nothing;
    const { projectId, position, settledNo, patterns } = endpoint;
    const { events, lastNo, seen } = await pageBehind(em(), projectId, { position, settledNo, patterns, limit: rows });
    if (events.length === 0 || lastNo === undefined) {
      await passOver(em(), endpoint, lastNo ?? settledNo);
      return { ...nothing, seen };
    }
    if (endpoint.batchSize > 1) return deliverBatches(endpoint, events, lastNo, options);
    return deliverSingles(endpoint, events, { lastNo, parked }, options);
  };
}

/** The record of a parked event that no longer exists. */
function recordOfLost(delivery: ParkedDelivery): DeliveryRecord {
  const nothing = { name: 'unknown', happenedAt: new Date(), contactEmail: null, emailId: null, data: {} };
  return recordOf({ ...delivery, ...nothing }, { status: 'FAILED', error: 'the event is not kept any more' });
}

export type ParkedEventsDelivery = (
  endpoint: OpenEndpoint,
  due: readonly ParkedDelivery[],
  options: SendOptions,
) => Promise<PageResult>;

/** Creates the delivery of parked events, the first one of each contact. After the last pause an event is given up. */
export function createParkedEventsDelivery(deps: ActivityDeps): ParkedEventsDelivery {
  const em = () => deps.orm.em.fork();
  const pauses = pausesOf(deps);

  return async (endpoint, due, { send, isOver }) => {
    const events = await loadEvents(em(), endpoint.projectId, due);
    const waiting = new Map(due.map((delivery) => [keyOf(delivery), delivery]));
    const parkedOf = ({ message }: HookAnswer) => waiting.get(message.events.map(keyOf)[0] ?? '');
    const found = new Set(events.map(keyOf));
    const lost = due.filter((delivery) => !found.has(keyOf(delivery))).map(recordOfLost);
    const lanes = events.map((event) => [singleMessage(endpoint.id, event)]);
    const answers = await sendLanes(lanes, { send, isOver, parallel: PARALLEL });
    const records = answers.flatMap((answer) => {
      if (answer.isAccepted) return recordOfAnswer(answer);
      const { attempts: before = 0, inMs = 0 } = parkedOf(answer) ?? {};
      if (inMs > 0) return recordOfAnswer(answer, { attempts: 0, retryInMs: inMs });
      const attempts = before + 1;
      // While the endpoint accepts nothing at all, no event is given up: the endpoint is disabled in the end, and its
      // events wait.
      const isGivenUp = attempts > pauses.length && endpoint.failures === 0;
      if (isGivenUp) return recordOfAnswer(answer, { status: 'FAILED' });
      return recordOfAnswer(answer, { retryInMs: pauseAfter(pauses, attempts, [answer]) });
    });
    const isAnyAccepted = answers.some((answer) => answer.isAccepted);
    const verdict = isAnyAccepted ? 'accepted' : 'unknown';
    const hasRecovered =
      answers.every(({ isAccepted }) => isAccepted) && answers.some((answer) => parkedOf(answer)?.attempts);
    await recordDeliveries(em(), endpoint, { records: [...records, ...lost], verdict, hasRecovered });
    const isGone = !isAnyAccepted && answers.some((answer) => answer.isGone);
    return { seen: due.length, sent: answers.length, hasFailed: !isAnyAccepted && answers.length > 0, isGone };
  };
}
