import { DAY_MS } from '../../shared/pure/days.ts';
import {
  closeEndpoint,
  disableEndpoint,
  findParked,
  openEndpoint,
  type OpenEndpoint,
  type Parked,
} from '../../shared/domain/webhooks/delivery-state.ts';
import type { WebhookDeliveryOutcome } from '../../shared/pure/workflow-contracts.ts';
import type { ActivityDeps } from '../deps.ts';
import { createPageDelivery, createParkedEventsDelivery, PARKED_MAX, type PageResult } from './deliver-page.ts';
import type { LaneOptions } from './send-lanes.ts';

/** The time of one turn, after which an endpoint frees its slot for others. */
const TURN_MS = 20_000;
/** The shortest time before an endpoint is woken again, after it got everything, or after it matched no event. */
const REST_MS = 500;
const UNWANTED_REST_MS = 5_000;
/** The same while parked events keep new ones waiting. */
const BLOCKED_REST_MS = 60_000;
const PARKED_HEADS = 200;
const PAGE_ROWS = { first: 50, min: 10, max: 1_000 } as const;
/** A page that takes longer than this is followed by a smaller one; a much faster page by a larger one. */
const PAGE_MS = 4_000;

export interface EndpointTurn {
  endpointId: string;
  /** How events are sent to the endpoint. */
  sendTo: (endpoint: OpenEndpoint) => LaneOptions['send'];
  signal: AbortSignal;
  /** Called after each page. */
  advance: () => void;
}

function nextPageRows(rows: number, tookMs: number): number {
  if (tookMs > PAGE_MS) return Math.max(PAGE_ROWS.min, rows >> 1);
  return tookMs < PAGE_MS / 4 ? Math.min(PAGE_ROWS.max, rows * 2) : rows;
}

/**
 * Creates the function that gives an endpoint its turn: a page of new events and the parked events that are due, again
 * and again until nothing is due, the endpoint fails, or its time is over.
 */
export function createEndpointTurns(deps: ActivityDeps) {
  const em = () => deps.orm.em.fork();
  const deliverPage = createPageDelivery(deps);
  const deliverParked = createParkedEventsDelivery(deps);

  /**
   * Disables an endpoint that is gone, or has failed for too long.
   * @returns whether it was disabled
   */
  async function disableHopeless(endpoint: OpenEndpoint, isGone: boolean): Promise<boolean> {
    const { failingSince, id } = endpoint;
    const days = deps.config.WEBHOOK_DISABLE_DAYS;
    const isHopeless = failingSince !== null && Date.now() - failingSince.getTime() > days * DAY_MS;
    if (!isGone && !isHopeless) return false;
    const reason = isGone ? 'it answered 410 Gone' : `it accepted no event for ${days} ${days === 1 ? 'day' : 'days'}`;
    await disableEndpoint(em(), endpoint, reason);
    deps.logger.warn({ webhookId: id, projectId: endpoint.projectId, reason }, 'a webhook endpoint was disabled');
    return true;
  }

  /** Delivers a page of new events, then parked ones. So parked events that time out never keep new ones waiting. */
  async function deliverRound(
    endpoint: OpenEndpoint,
    { rows, parked }: { rows: number; parked: Parked },
    options: Pick<LaneOptions, 'send' | 'isOver'>,
  ): Promise<PageResult & { pageMs: number }> {
    const startedAt = performance.now();
    const page = await deliverPage(endpoint, { rows, parked: parked.count }, options);
    const pageMs = performance.now() - startedAt;
    if (parked.due.length === 0 || page.hasFailed) return { ...page, pageMs };
    const later = await deliverParked(endpoint, parked.due, options);
    const seen = page.seen + later.seen;
    return { ...(page.sent > 0 ? page : later), seen, sent: page.sent + later.sent, pageMs };
  }

  return async ({ endpointId, sendTo, signal, advance }: EndpointTurn): Promise<WebhookDeliveryOutcome> => {
    const startedAt = performance.now();
    const isOver = (): boolean => signal.aborted || performance.now() - startedAt > TURN_MS;
    let rows: number = PAGE_ROWS.first;
    let isSlow = false;
    const total = { seen: 0, sent: 0 };
    for (;;) {
      signal.throwIfAborted();
      const endpoint = await openEndpoint(em(), endpointId);
      if (!endpoint) return { kind: 'gone' };
      const isTroubled = endpoint.failures > 0 || isSlow;
      if (!endpoint.isEnabled) return { kind: 'idle', inMs: null, isTroubled };
      if (endpoint.waitMs > 0) return { kind: 'idle', inMs: Math.ceil(endpoint.waitMs), isTroubled };
      const parked = await findParked(em(), endpointId, PARKED_HEADS);
      const isBlocked = parked.count >= PARKED_MAX && endpoint.failures === 0 && parked.due.length === 0;
      // One of those that keep new ones waiting is tried before its time: the endpoint may accept it by now.
      if (isBlocked && total.sent === 0) parked.due = (await findParked(em(), endpointId, 1, true)).due;
      // Behind events that the endpoint never accepts there may be others.
      if (endpoint.failures > 0) rows = Math.min(PAGE_ROWS.max, PAGE_ROWS.first * 2 ** endpoint.failures);
      const result = await deliverRound(endpoint, { rows, parked }, { send: sendTo(endpoint), isOver });
      advance();
      if ((result.isGone || result.hasFailed) && (await disableHopeless(endpoint, result.isGone))) {
        return { kind: 'idle', inMs: null, isTroubled: true };
      }
      isSlow = result.pageMs > PAGE_MS;
      rows = nextPageRows(rows, result.pageMs);
      total.seen += result.seen;
      total.sent += result.sent;
      if (result.seen === 0) {
        const restMs = total.seen > 0 && total.sent === 0 ? UNWANTED_REST_MS : REST_MS;
        const pauseMs = isBlocked ? BLOCKED_REST_MS : restMs;
        await closeEndpoint(em(), endpointId, { pauseMs, parkedInMs: parked.nextInMs });
        return { kind: 'idle', inMs: parked.nextInMs, isTroubled };
      }
      if (isOver()) return { kind: 'more', isTroubled: isSlow || result.hasFailed };
    }
  };
}
