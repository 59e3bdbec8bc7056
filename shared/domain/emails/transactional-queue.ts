import { AppError } from '../../pure/app-error.ts';
import type { Brand } from '../../pure/brand.ts';
import type { TrackingMode } from '../../pure/project.ts';
import { activeTraceParent } from '../../platform/tracing/spans.ts';
import { createYields } from '../../platform/yielding.ts';
import { upsertContactRows, type UpsertedContact } from '../contacts/contacts.ts';
import type { Em } from '../../database/em.ts';
import { createProjectWriter, type ProjectWriterDeps } from '../../database/project-writer.ts';
import { json } from '../../database/sql.ts';
import { inTransaction } from '../../database/transaction.ts';
import { findRefusedSenders } from '../domains/sender-domains.ts';
import { settleIdempotencyKeys, type IdempotencyClaim } from '../idempotency/idempotency.ts';
import { keepTraceContexts, keepTracesOf } from '../../durable/outbox/trace-contexts.ts';
import { queueLoneRequest } from './lone-request.ts';
import { isReplyAddressAt, withReplyAddress } from './reply-addresses.ts';
import { createRequestRenderer, renderedEmails, type RequestRenderer } from './request-renderer.ts';
import { assertScheduledLimit } from './scheduled-emails.ts';
import { storeEmails, type SentEmail } from './stored-email.ts';
import {
  assertNobodyRefused,
  bodyLength,
  contactRowsOf,
  copiesOf,
  findRefused,
  findTemplateAndTopic,
  LARGE_LENGTH,
  resolveContent,
  type FoundTemplate,
  type QueuedEmail,
  type ResolvedContent,
  type TransactionalDeps,
  type TransactionalRequest,
} from './transactional-request.ts';

/** A request, and the claim of its idempotency key. */
export interface TransactionalItem {
  project: { id: string; tracking: TrackingMode; brand: Brand };
  request: TransactionalRequest;
  claim: IdempotencyClaim | undefined;
}

/** An item in a group. */
interface GroupedItem extends TransactionalItem {
  projectId: string;
  /** The trace of its request, if it has one. */
  traceParent: string | undefined;
}

/** Queues the emails of a request, and settles its key. @throws what `queueLoneRequest` throws */
export type TransactionalQueue = (item: TransactionalItem) => Promise<QueuedEmail[]>;

export interface TransactionalQueueDeps extends ProjectWriterDeps, TransactionalDeps {
  inboundDomain: string | undefined;
}

/** At 32 requests the statements are a small part of the costs; more would keep the event loop busy for longer. */
const REQUESTS_MAX = 32;
/** Requests with more recipients go alone: sharing a few statements would save them little. */
const RECIPIENTS_MAX = 10;

/** The queued emails of a request, the error that refuses it, or `alone` when it must be queued by itself. */
type Outcome = QueuedEmail[] | Error | 'alone';

/** A request whose content is compiled. */
export interface PreparedRequest {
  item: GroupedItem;
  content: ResolvedContent;
  startRendering: () => RequestRenderer;
}

/** A prepared request, or why it is not queued with the others. */
type Prepared = PreparedRequest | Error | 'alone';

function isSmall(request: TransactionalRequest): boolean {
  return (
    request.to.length + copiesOf(request).length <= RECIPIENTS_MAX &&
    request.attachments.length === 0 &&
    bodyLength(request) < LARGE_LENGTH
  );
}

/**
 * Creates the queue of requests that send transactional email. Small requests of a project that arrive together share
 * their statements and a commit. A request that arrives alone is queued at once, a large one by itself.
 */
export function createTransactionalQueue(deps: TransactionalQueueDeps): TransactionalQueue {
  const queueInGroup = createProjectWriter<GroupedItem, Outcome>({
    em: deps.em,
    slots: deps.slots,
    itemsMax: REQUESTS_MAX,
    parallel: 2,
    write: (em, items, lockMs) => queueTogether(em, items, deps, lockMs),
    octetsOf: ({ request }) =>
      bodyLength(request) * (request.to.length + copiesOf(request).length) + json(request.data ?? null).length,
    keysOf: ({ request }) => [...request.to, ...copiesOf(request)].map(({ address }) => address),
  });

  async function queueAlone({ project, request, claim }: TransactionalItem): Promise<QueuedEmail[]> {
    const replyTo = {
      projectId: project.id,
      address: request.replyTo,
      inboundDomain: deps.inboundDomain,
      field: 'reply',
    };
    const queue = (em: Em) => withReplyAddress(em, replyTo, (tx) => queueLoneRequest(tx, project, request, deps));
    return deps.slots.run(project.id, async () => {
      if (!claim && activeTraceParent() === undefined) return queue(deps.em());
      return inTransaction(deps.em(), async (tx) => {
        const queued = await queue(tx);
        await settleIdempotencyKeys(tx, claim ? [claim] : [], 200);
        await keepTraceContexts(
          tx,
          queued.map(({ emailId }) => emailId),
        );
        return queued;
      });
    });
  }

  return async (item) => {
    const { request } = item;
    if (!isSmall(request) || isReplyAddressAt(request.replyTo, deps.inboundDomain)) return queueAlone(item);
    const outcome = await queueInGroup({ ...item, projectId: item.project.id, traceParent: activeTraceParent() });
    if (outcome === 'alone') return queueAlone(item);
    if (outcome instanceof Error) throw outcome;
    return outcome;
  };
}

export function isReady(prepared: Prepared): prepared is PreparedRequest {
  return typeof prepared === 'object' && 'item' in prepared;
}

/**
 * Queues the emails of small requests of one project in one transaction. Requests that must be refused are found before
 * it, and do not affect the others.
 */
async function queueTogether(
  em: Em,
  items: GroupedItem[],
  deps: TransactionalDeps,
  lockMs: number | undefined,
): Promise<Outcome[]> {
  const prepared = await prepareRequests(em, items, deps);
  const ready = prepared.filter(isReady);
  const queued = ready.length > 0 ? await inTransaction(em, (tx) => storeRequests(tx, ready, { lockMs })) : [];
  const queuedOf = new Map(ready.map((each, index) => [each, queued[index] ?? []]));
  return prepared.map((each) => (isReady(each) ? (queuedOf.get(each) ?? []) : each));
}

/**
 * Finds templates and sender domains, then compiles the contents: a refused request costs no more than the statements.
 */
export async function prepareRequests(em: Em, items: GroupedItem[], deps: TransactionalDeps): Promise<Prepared[]> {
  const projectId = items[0]?.projectId ?? '';
  const contents = await resolveContents(em, items);
  const senders = contents.flatMap((content) => (content instanceof Error ? [] : [content.from.address]));
  const refused = senders.length > 0 ? await findRefusedSenders(em, projectId, senders) : new Map<string, Error>();
  const yieldIfDue = createYields();
  const prepared: Prepared[] = [];
  for (const [index, item] of items.entries()) {
    const content = contents[index] ?? new Error('a request has no content');
    prepared.push(content instanceof Error ? content : await prepare(item, content));
    await yieldIfDue();
  }
  return prepared;

  async function prepare(item: GroupedItem, content: ResolvedContent): Promise<Prepared> {
    const refusal = refused.get(content.from.address);
    if (refusal) return refusal;
    if (bodyLength(content) >= LARGE_LENGTH) return 'alone';
    return attempt(async () => {
      const startRendering = await createRequestRenderer(projectId, content, item.request, deps);
      return { item, content, startRendering };
    });
  }
}

async function resolveContents(em: Em, items: GroupedItem[]): Promise<(ResolvedContent | Error)[]> {
  const templates = new Map<string, FoundTemplate | Error>();
  const contents: (ResolvedContent | Error)[] = [];
  for (const { projectId, project, request } of items) {
    const { templateId } = request;
    if (templateId !== undefined && !templates.has(templateId)) {
      templates.set(templateId, await attempt(() => findTemplateAndTopic(em, projectId, templateId)));
    }
    const template = templateId === undefined ? undefined : templates.get(templateId);
    contents.push(
      template instanceof Error ? template : await attempt(() => resolveContent(request, template, project)),
    );
  }
  return contents;
}

/** The result of some work, or the error that it threw. */
async function attempt<T>(work: () => T | Promise<T>): Promise<T | Error> {
  try {
    return await work();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

interface StoreOptions {
  lockMs?: number | undefined;
  /** Collects the requests that are refused; the caller undoes the transaction then. Otherwise the error is thrown. */
  refused?: Map<PreparedRequest, AppError>;
}

/** Writes the contacts, renders the emails and stores them, all or nothing. @returns the emails of each request */
export async function storeRequests(
  tx: Em,
  requests: PreparedRequest[],
  { lockMs, refused }: StoreOptions,
): Promise<QueuedEmail[][]> {
  const projectId = requests[0]?.item.projectId ?? '';
  if (requests.some(({ content }) => content.scheduledAt)) await assertScheduledLimit(tx, projectId);
  const rows = requests.flatMap(({ item: { request } }) => contactRowsOf(request));
  const contacts = await upsertContactRows(tx, projectId, rows, lockMs);
  const contactOf = new Map(contacts.map((contact) => [contact.email, contact]));
  const yieldIfDue = createYields();
  const emails: SentEmail[] = [];
  const queued: QueuedEmail[][] = [];
  for (const request of requests) {
    const rendered = await renderOrRefuse(tx, request, contactOf, refused);
    emails.push(...rendered);
    queued.push(
      rendered.map((email) => ({ contact: { id: email.contactId, email: email.to.address }, emailId: email.emailId })),
    );
    await yieldIfDue();
  }
  if (emails.length > 0) await storeEmails(tx, projectId, emails);
  const claims = requests.flatMap(({ item }) => item.claim ?? []);
  await settleIdempotencyKeys(tx, claims, 200);
  await keepTracesOf(
    tx,
    requests.map(({ item: { traceParent } }, index) => ({
      traceParent,
      subjectIds: (queued[index] ?? []).map(({ emailId }) => emailId),
    })),
  );
  return queued;
}

async function renderOrRefuse(
  tx: Em,
  request: PreparedRequest,
  contactOf: ReadonlyMap<string, UpsertedContact>,
  refused: StoreOptions['refused'],
): ReturnType<typeof renderRequest> {
  try {
    return await renderRequest(tx, request, contactOf);
  } catch (error) {
    if (!refused || !(error instanceof AppError)) throw error;
    refused.set(request, error);
    return [];
  }
}

/** Renders the emails of a request, in the order of its recipients. @throws AppError BAD_REQUEST, VALIDATION_ERROR */
async function renderRequest(
  tx: Em,
  { item: { request }, content, startRendering }: PreparedRequest,
  contactOf: ReadonlyMap<string, UpsertedContact>,
): Promise<(SentEmail & { contactId: string })[]> {
  const contacts = new Set(request.to.flatMap(({ address }) => contactOf.get(address) ?? []));
  assertNobodyRefused(await findRefused(tx, content, [...contacts]));
  return [...renderedEmails(request, contactOf, startRendering())].map((email) => ({ ...email, sender: content }));
}
