import { AppError, tooLarge } from '../../pure/app-error.ts';
import { LIMITS } from '../../pure/limits.ts';
import { Gather } from '../../platform/gather.ts';
import { OCTETS_MAX } from '../../database/project-writer.ts';
import { inTransaction } from '../../database/sql.ts';
import { settleIdempotencyKeys, type IdempotencyClaim } from '../idempotency/idempotency.ts';
import { INPUTS_MAX, isReady, prepareInputs, storeTogether, type Outcome, type Ready } from './email-queue.ts';
import {
  inputOf,
  resolveRequests,
  type TransactionalItem,
  type TransactionalQueueDeps,
} from './transactional-queue.ts';
import { copiesOf, type TransactionalRequest } from './transactional-request.ts';

/** Different emails that a request sends together, and the claim of its idempotency key. */
export interface TransactionalBatch {
  project: TransactionalItem['project'];
  /** An error stands for an email that cannot be read. */
  requests: (TransactionalRequest | AppError)[];
  claim: IdempotencyClaim | undefined;
}

/** The queued emails of each request, or the error that refuses it. */
export type BatchQueue = (batch: TransactionalBatch) => Promise<Outcome[]>;

const alone = () =>
  new AppError('VALIDATION_ERROR', {
    message:
      'This email has to be sent by itself: it has attachments, its body is too long for a batch, or its `reply` collects replies here',
    suggestion: 'Send it with POST /v1/send',
  });

/** @throws AppError VALIDATION_ERROR when a batch has more recipients than a request may have */
function assertRecipients(requests: TransactionalRequest[]): void {
  const count = requests.reduce((sum, each) => sum + each.to.length + copiesOf(each).length, 0);
  if (count <= LIMITS.recipients) return;
  throw tooLarge('emails', `The emails of a batch may have at most ${LIMITS.recipients} recipients together`);
}

/** Thrown to undo a batch of which some requests are refused. */
class RefusedRequests extends Error {}

/**
 * Creates the queue of batches. What can be sent is queued in one transaction, with the key of the request, so that a
 * repeated request sends nothing again. What must be refused is left out, and nothing of it is kept.
 */
export function createBatchQueue(deps: TransactionalQueueDeps): BatchQueue {
  /** Stores all requests, or adds some to `refused` and throws RefusedRequests. */
  async function store(requests: Ready[], claim: IdempotencyClaim | undefined, refused: Map<Ready, AppError>) {
    return inTransaction(deps.em(), async (tx) => {
      const groups = new Gather<Ready, Outcome>({
        write: (group) => storeTogether(tx, group, { refused }),
        itemsMax: INPUTS_MAX,
        octets: { max: OCTETS_MAX, of: ({ input }) => input.octets },
        keysOf: ({ input }) => input.keys,
      });
      // After a group that fails, the others do so as well. The first error is the one that ended the transaction.
      const settled = await Promise.allSettled(requests.map((request) => groups.add(request)));
      const outcomes = settled.map((each) => {
        if (each.status === 'rejected') throw each.reason;
        return each.value;
      });
      if (refused.size > 0) throw new RefusedRequests();
      await settleIdempotencyKeys(tx, claim ? [claim] : [], 200);
      return new Map(requests.map((request, index) => [request, outcomes[index] ?? []]));
    });
  }

  async function storeAccepted(requests: Ready[], claim: IdempotencyClaim | undefined): Promise<Map<Ready, Outcome>> {
    const refused = new Map<Ready, AppError>();
    for (;;) {
      const found = new Map<Ready, AppError>();
      const left = requests.filter((request) => !refused.has(request));
      try {
        return new Map([...(await store(left, claim, found)), ...refused]);
      } catch (error) {
        if (!(error instanceof RefusedRequests)) throw error;
        for (const [request, reason] of found) refused.set(request, reason);
      }
    }
  }

  return async ({ project, requests, claim }) => {
    const readable = requests.flatMap((each) => (each instanceof AppError ? [] : each));
    assertRecipients(readable);
    return deps.slots.run(project.id, async () => {
      const inputs = readable.map((request) => inputOf({ project, request, claim: undefined }, deps.inboundDomain));
      const resolved = (await resolveRequests(deps.em(), inputs, deps)).map((each, index) => {
        const { replyTo, request } = inputs[index] ?? {};
        const isAlone = replyTo !== undefined || request?.attachments.length !== 0;
        return !(each instanceof Error) && (each.isLarge || isAlone) ? alone() : each;
      });
      const prepared = await prepareInputs(deps.em(), project.id, resolved);
      const stored = await storeAccepted(prepared.filter(isReady), claim);
      const outcomes = prepared.map((each) => {
        if (isReady(each)) return stored.get(each) ?? [];
        if (each instanceof AppError) return each;
        throw each;
      });
      let next = 0;
      return requests.map((request) => (request instanceof AppError ? request : (outcomes[next++] ?? [])));
    });
  };
}
