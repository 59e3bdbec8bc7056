import { SpanKind, type Span } from '@opentelemetry/api';
import type { ClaimedEmail } from '../../shared/domain/emails/transactional-delivery.ts';
import { findTraceContexts } from '../../shared/durable/outbox/trace-contexts.ts';
import type { SmtpOutcome } from '../../shared/sending/transport/smtp-pool.ts';
import { parseSmtpReply } from '../../shared/sending/transport/smtp-reply.ts';
import { activeTrace, withSpan } from '../../shared/platform/tracing/spans.ts';
import type { TraceParent } from '../../shared/pure/trace-parent.ts';
import type { ActivityDeps } from '../deps.ts';

/** Sends an email, within a span if the email is traced. */
export type SmtpTrace = (emailId: string, send: () => Promise<SmtpOutcome>) => Promise<SmtpOutcome>;

/**
 * The number of emails of a page with their own span. A campaign may have a million; the span of the page counts all.
 */
const EMAILS_OF_PAGE = 5;

const untraced: SmtpTrace = (_emailId, send) => send();

/** Adds an outcome to a span. The text of the reply is left out, because it may contain the address. */
function noteOutcome(span: Span, outcome: SmtpOutcome): void {
  const reply = parseSmtpReply(outcome.reply);
  span.setAttribute('smtp.outcome', outcome.kind);
  if (outcome.kind !== 'accepted') span.setAttribute('smtp.stage', outcome.stage);
  if (outcome.relay !== undefined) span.setAttribute('everpost.relay', outcome.relay);
  if (outcome.kind !== 'interrupted' && outcome.server !== undefined) {
    span.setAttribute('server.address', outcome.server);
  }
  if (reply) span.setAttribute('smtp.reply_code', reply.replyCode);
  if (reply?.enhancedCode !== undefined) span.setAttribute('smtp.enhanced_code', reply.enhancedCode);
}

/**
 * The parent of the span of an email: the attempt if both belong to one trace, else the trace of the email, with a link
 * to the attempt.
 */
function spanParentOf(attempt: TraceParent | undefined, own: TraceParent) {
  if (attempt?.traceId === own.traceId) return { parent: attempt };
  return { parent: own, links: attempt ? [attempt] : [] };
}

function tracing(parentOf: (emailId: string) => ReturnType<typeof spanParentOf> | undefined): SmtpTrace {
  return (emailId, send) => {
    const parent = parentOf(emailId);
    if (!parent) return send();
    const attributes = { 'everpost.email.id': emailId };
    return withSpan('smtp send', { kind: SpanKind.CLIENT, ...parent, attributes }, send, noteOutcome);
  };
}

/** Traces the emails of an attempt that belong to a trace. Nothing is queried while tracing is off. */
export async function traceEmails(
  deps: Pick<ActivityDeps, 'config' | 'orm' | 'logger'>,
  claimed: readonly ClaimedEmail[],
): Promise<SmtpTrace> {
  if (!deps.config.tracing.isOn) return untraced;
  const ids = claimed.map(({ id }) => id);
  const contexts = await findTraceContexts(deps.orm.em.fork(), ids).catch((error: unknown) => {
    deps.logger.warn({ err: error }, 'traces could not be read, the work goes on without them');
  });
  if (!contexts || contexts.size === 0) return untraced;
  const attempt = activeTrace();
  return tracing((emailId) => {
    const own = contexts.get(emailId);
    return own && spanParentOf(attempt, own.parent);
  });
}

/** Traces the first emails of a page whose campaign is traced. */
export function traceSome(): SmtpTrace {
  const attempt = activeTrace();
  if (!attempt) return untraced;
  let left = EMAILS_OF_PAGE;
  return tracing(() => (left-- > 0 ? { parent: attempt } : undefined));
}
