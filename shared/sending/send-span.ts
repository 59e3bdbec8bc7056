import { SpanKind, type Span } from '@opentelemetry/api';
import { withSpan } from '../platform/tracing/spans.ts';
import type { TraceParent } from '../pure/trace-parent.ts';
import type { SmtpOutcome } from './transport/message.ts';
import { parseSmtpReply } from './transport/smtp-reply.ts';

/** The parent of the span of an email, and related spans. */
export interface SpanParent {
  parent: TraceParent;
  links?: readonly TraceParent[];
}

/** Adds an outcome to a span. The text of the reply is left out, because it may contain the address. */
function noteOutcome(span: Span, outcome: SmtpOutcome): void {
  const reply = parseSmtpReply(outcome.reply);
  span.setAttribute('smtp.outcome', outcome.kind);
  if (outcome.kind !== 'accepted') span.setAttribute('smtp.stage', outcome.stage);
  if (outcome.relay !== undefined) span.setAttribute('everpost.relay', outcome.relay);
  if (outcome.server !== undefined) {
    span.setAttribute('server.address', outcome.server);
  }
  if (reply) span.setAttribute('smtp.reply_code', reply.replyCode);
  if (reply?.enhancedCode !== undefined) span.setAttribute('smtp.enhanced_code', reply.enhancedCode);
}

/** Sends an email, within a span if it is traced. */
export function traceSending(
  emailId: string,
  parent: SpanParent | undefined,
  send: () => Promise<SmtpOutcome>,
): Promise<SmtpOutcome> {
  if (!parent) return send();
  const attributes = { 'everpost.email.id': emailId };
  return withSpan('smtp send', { kind: SpanKind.CLIENT, ...parent, attributes }, send, noteOutcome);
}
