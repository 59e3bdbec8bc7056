import { uuidV7 } from '../../platform/uuid.ts';
import type { Brand } from '../../pure/brand.ts';
import type { TrackingMode } from '../../pure/project.ts';
import { activeTraceParent } from '../../platform/tracing/spans.ts';
import type { ProjectWriterDeps } from '../../database/project-writer.ts';
import { json, type Em } from '../../database/sql.ts';
import type { IdempotencyClaim } from '../idempotency/idempotency.ts';
import {
  attempt,
  createEmailQueue,
  RECIPIENTS_MAX,
  type Part,
  type QueuedEmail,
  type QueueInput,
  type Ready,
  type Resolved,
} from './email-queue.ts';
import { isReplyAddressAt } from './reply-addresses.ts';
import { createRequestRenderer, renderedEmails, type RequestRenderer } from './request-renderer.ts';
import type { EmailSender } from './stored-email.ts';
import {
  assertNobodyRefused,
  bodyLength,
  chunksOf,
  contactRowsOf,
  copiesOf,
  findRefused,
  findTemplateAndTopic,
  LARGE_LENGTH,
  resolveContent,
  type FoundTemplate,
  type RefusedRecipient,
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

/**
 * Queues the emails of a request, and settles its key.
 * @throws AppError TEMPLATE_NOT_FOUND, TOPIC_NOT_FOUND, SENDER_DOMAIN_REFUSED, VALIDATION_ERROR, BAD_REQUEST (a
 *   recipient opted out, left the topic or paused)
 */
export type TransactionalQueue = (item: TransactionalItem) => Promise<QueuedEmail[]>;

export interface TransactionalQueueDeps extends ProjectWriterDeps, TransactionalDeps {
  inboundDomain: string | undefined;
}

/** A request as an input of the queue. */
export type RequestInput = QueueInput & TransactionalItem;

/** Creates the queue of requests that send transactional email. */
export function createTransactionalQueue(deps: TransactionalQueueDeps): TransactionalQueue {
  const queue = createEmailQueue<RequestInput>({
    ...deps,
    resolve: (em, inputs) => resolveRequests(em, inputs, deps),
  });
  return (item) => queue(inputOf(item, deps.inboundDomain));
}

export function inputOf(item: TransactionalItem, inboundDomain: string | undefined): RequestInput {
  const { project, request } = item;
  const recipients = [...request.to, ...copiesOf(request)];
  const hasReplyAddress = isReplyAddressAt(request.replyTo, inboundDomain);
  return {
    ...item,
    projectId: project.id,
    keys: recipients.map(({ address }) => address),
    octets: bodyLength(request) * recipients.length + json(request.data ?? null).length,
    traceParent: activeTraceParent(),
    isAlone:
      recipients.length > RECIPIENTS_MAX ||
      request.attachments.length > 0 ||
      bodyLength(request) >= LARGE_LENGTH ||
      hasReplyAddress,
    ...(hasReplyAddress && {
      replyTo: { projectId: project.id, address: request.replyTo, inboundDomain, field: 'reply' },
    }),
  };
}

/** Finds the templates of requests, each once, and their contents. */
export async function resolveRequests(
  em: Em,
  inputs: RequestInput[],
  deps: TransactionalDeps,
): Promise<(Resolved | Error)[]> {
  const templates = new Map<string, FoundTemplate | Error>();
  const resolved: (Resolved | Error)[] = [];
  for (const input of inputs) {
    const { projectId, project, request } = input;
    const { templateId } = request;
    if (templateId !== undefined && !templates.has(templateId)) {
      templates.set(templateId, await attempt(() => findTemplateAndTopic(em, projectId, templateId)));
    }
    const template = templateId === undefined ? undefined : templates.get(templateId);
    const content =
      template instanceof Error ? template : await attempt(() => resolveContent(request, template, project));
    resolved.push(content instanceof Error ? content : resolvedOf(input, content, deps));
  }
  return resolved;
}

function resolvedOf(input: RequestInput, content: ResolvedContent, deps: TransactionalDeps): Resolved {
  const { projectId, request } = input;
  return {
    input,
    from: content.from.address,
    isLarge: bodyLength(content) >= LARGE_LENGTH,
    async compile() {
      const startRendering = await createRequestRenderer(projectId, content, request, deps);
      return readyRequest(input, content, startRendering);
    },
  };
}

function readyRequest(input: RequestInput, content: ResolvedContent, startRendering: () => RequestRenderer): Ready {
  const { request } = input;
  const setId = uuidV7();
  const sender = { ...content, attachmentSetId: request.attachments.length > 0 ? setId : null };
  const chunks = chunksOf(request.to);
  return {
    input,
    isScheduled: content.scheduledAt !== undefined,
    files: request.attachments.map((file, position) => ({ ...file, setId, position })),
    parts() {
      const renderer = startRendering();
      const refused: RefusedRecipient[] = [];
      return chunks.map((chunk, index) => {
        const own = { ...request, to: chunk.map(({ recipient }) => recipient) };
        return requestPart({ request: own, content, sender, renderer, refused, isLast: index === chunks.length - 1 });
      });
    },
    ...(chunks.length > 1 && { order: chunks.flat().map(({ index }) => index) }),
  };
}

interface RequestPart {
  request: TransactionalRequest;
  content: ResolvedContent;
  sender: EmailSender;
  renderer: RequestRenderer;
  /** Those of this part and of the parts before it. */
  refused: RefusedRecipient[];
  isLast: boolean;
}

function requestPart({ request, content, sender, renderer, refused, isLast }: RequestPart): Part {
  return {
    contacts: contactRowsOf(request),
    async render(tx, contactOf) {
      const contacts = new Set(request.to.flatMap(({ address }) => contactOf.get(address) ?? []));
      refused.push(...(await findRefused(tx, content, [...contacts])));
      if (isLast) assertNobodyRefused(refused);
      // Further contacts are only read for the error, which names everybody who may not receive it.
      if (refused.length > 0) return [];
      return renderedEmails(request, contactOf, renderer, sender);
    },
  };
}
