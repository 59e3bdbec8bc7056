import { AppError, tooLarge } from '../../pure/app-error.ts';
import { LIMITS } from '../../pure/limits.ts';
import { activeTraceParent } from '../../platform/tracing/spans.ts';
import { inTransaction } from '../../database/transaction.ts';
import { settleIdempotencyKeys, type IdempotencyClaim } from '../idempotency/idempotency.ts';
import { isReplyAddressAt } from './reply-addresses.ts';
import { isReady, prepareRequests, storeRequests, type PreparedRequest } from './transactional-queue.ts';
import type { TransactionalItem, TransactionalQueueDeps } from './transactional-queue.ts';
import { bodyLength, copiesOf, type QueuedEmail, type TransactionalRequest } from './transactional-request.ts';

/** Different emails that a request sends together, and the claim of its idempotency key. */
export interface TransactionalBatch {
  project: TransactionalItem['project'];
  /** An error stands for an email that cannot be read. */
  requests: (TransactionalRequest | AppError)[];
  claim: IdempotencyClaim | undefined;
}

/** The queued emails of each request, or the error that refuses it. */
export type BatchQueue = (batch: TransactionalBatch) => Promise<(QueuedEmail[] | AppError)[]>;

/** So many requests, or octets of bodies, are rendered and stored by one statement. */
const REQUESTS_TOGETHER = 32;
const OCTETS_TOGETHER = 262_144;

const recipientsOf = (request: TransactionalRequest) => [...request.to, ...copiesOf(request)];

const alone = () =>
  new AppError('VALIDATION_ERROR', {
    message:
      'This email has to be sent by itself: its body is too long for a batch, or its `reply` collects replies here',
    suggestion: 'Send it with POST /v1/send',
  });

/** @throws AppError VALIDATION_ERROR when a batch has more recipients than a request may have */
function assertRecipients(requests: TransactionalBatch['requests']): void {
  const count = requests.reduce((sum, each) => sum + (each instanceof AppError ? 0 : recipientsOf(each).length), 0);
  if (count <= LIMITS.recipients) return;
  throw tooLarge('emails', `The emails of a batch may have at most ${LIMITS.recipients} recipients together`);
}

/** Divides requests, in their order, so that a part has each address once and fits into one statement. */
function* partsOf(requests: readonly PreparedRequest[]): Generator<PreparedRequest[]> {
  let part: PreparedRequest[] = [];
  let octets = 0;
  let addresses = new Set<string>();
  for (const each of requests) {
    const { request } = each.item;
    const own = recipientsOf(request).map(({ address }) => address);
    const size = bodyLength(each.content) * own.length;
    const isFull = part.length === REQUESTS_TOGETHER || octets + size > OCTETS_TOGETHER;
    if (part.length > 0 && (isFull || own.some((address) => addresses.has(address)))) {
      yield part;
      part = [];
      octets = 0;
      addresses = new Set();
    }
    part.push(each);
    octets += size;
    for (const address of own) addresses.add(address);
  }
  if (part.length > 0) yield part;
}

/** Thrown to undo a batch of which some requests are refused. */
class RefusedRequests extends Error {
  readonly errors: ReadonlyMap<PreparedRequest, AppError>;

  constructor(errors: ReadonlyMap<PreparedRequest, AppError>) {
    super('some requests of a batch are refused');
    this.errors = errors;
  }
}

/**
 * Creates the queue of batches. What can be sent is queued in one transaction, with the key of the request, so that a
 * repeated request sends nothing again. What must be refused is left out, and nothing of it is kept.
 */
export function createBatchQueue(deps: TransactionalQueueDeps): BatchQueue {
  async function store(
    requests: readonly PreparedRequest[],
    claim: IdempotencyClaim | undefined,
  ): Promise<Map<PreparedRequest, QueuedEmail[]>> {
    return inTransaction(deps.em(), async (tx) => {
      const queued = new Map<PreparedRequest, QueuedEmail[]>();
      const refused = new Map<PreparedRequest, AppError>();
      for (const part of partsOf(requests)) {
        const emails = await storeRequests(tx, part, { refused });
        for (const [index, request] of part.entries()) queued.set(request, emails[index] ?? []);
      }
      if (refused.size > 0) throw new RefusedRequests(refused);
      await settleIdempotencyKeys(tx, claim ? [claim] : [], 200);
      return queued;
    });
  }

  async function storeAccepted(requests: PreparedRequest[], claim: IdempotencyClaim | undefined) {
    const refused = new Map<PreparedRequest, AppError>();
    for (;;) {
      const left = requests.filter((request) => !refused.has(request));
      try {
        return { queued: await store(left, claim), refused };
      } catch (error) {
        if (!(error instanceof RefusedRequests)) throw error;
        for (const [request, reason] of error.errors) refused.set(request, reason);
      }
    }
  }

  return ({ project, requests, claim }) => {
    assertRecipients(requests);
    const projectId = project.id;
    return deps.slots.run(projectId, async () => {
      const traceParent = activeTraceParent();
      const readable = requests.flatMap((request) => (request instanceof AppError ? [] : request));
      const items = readable.map((request) => ({ project, projectId, request, claim: undefined, traceParent }));
      const prepared = (await prepareRequests(deps.em(), items, deps)).map((each, index) => {
        const request = items[index]?.request;
        const isAlone =
          request && (request.attachments.length > 0 || isReplyAddressAt(request.replyTo, deps.inboundDomain));
        return each === 'alone' || isAlone ? alone() : each;
      });
      const ready = prepared.filter(isReady);
      const { queued, refused } = await storeAccepted(ready, claim);
      const outcomes = prepared.map((each) => {
        if (isReady(each)) return refused.get(each) ?? queued.get(each) ?? [];
        if (each instanceof AppError) return each;
        throw each;
      });
      let next = 0;
      return requests.map((request) => (request instanceof AppError ? request : (outcomes[next++] ?? [])));
    });
  };
}
