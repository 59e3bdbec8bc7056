import { createHash } from 'node:crypto';
import { isAutomatic, mayBeNotice } from './automatic-message.ts';
import { parseFeedbackReport, type FeedbackReport } from './arf.ts';
import { readDeliveryReport } from './delivery-report.ts';
import type { DsnRecipient } from './dsn.ts';
import { decodeHeaderText, readEntity, readParts, subjectOf, type MimeEntity } from './mime-reader.ts';

/** An inbound message, by its kind. */
export type InboundMessage = { /** Equal for copies of one message. */ id: string } & (
  | { kind: 'dsn'; recipients: DsnRecipient[] }
  | { kind: 'complaint'; report: FeedbackReport }
  | { kind: 'reply'; from: string; subject: string; /** The emails that it may answer. */ emailIds: string[] }
  | { kind: 'automatic' }
);

const FROM_LENGTH_MAX = 2_000;
const EMAIL_IDS_MAX = 20;

/** The address in a From field, in lower case; empty when there is none. */
export function addressIn(field: string): string {
  const bare = field.slice(0, FROM_LENGTH_MAX).replace(/"(?:[^"\\]|\\.)*"/g, '');
  const address =
    /<\s*([^<>\s]{1,320})\s*>/.exec(bare)?.[1] ?? /[^\s<>,;:"()]{1,64}@[^\s<>,;:"()]{1,255}/.exec(bare)?.[0];
  return decodeHeaderText(address ?? '').toLowerCase();
}

/**
 * The ids of the emails that a reply names. Our Message-IDs begin with the id of the email. The last ones are the
 * latest of the conversation.
 */
function repliedIds(message: MimeEntity): string[] {
  const text = [...message.fields('references'), ...message.fields('in-reply-to')].join(' ');
  const ids = [...text.matchAll(/<([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})@/gi)].map((match) => match[1] ?? '');
  return ids.slice(-EMAIL_IDS_MAX).map((id) => id.toLowerCase());
}

/** Reads an inbound message. Accepts any octets and never throws. */
export function readInboundMessage(raw: Buffer, envelopeFrom: string): InboundMessage {
  const message = readEntity(raw.toString('latin1'));
  const messageId = message.field('message-id');
  const id = createHash('sha256')
    .update(messageId === '' ? raw : messageId)
    .digest('hex');

  const parts = readParts(message);
  const report = parseFeedbackReport(message, parts);
  if (report) return { id, kind: 'complaint', report };
  const from = addressIn(message.field('from')) || envelopeFrom.toLowerCase();
  const subject = subjectOf(message);
  const sender = { envelopeFrom, from, subject };
  const recipients = readDeliveryReport(message, parts, mayBeNotice(message, parts, sender));
  if (recipients) return { id, kind: 'dsn', recipients };
  if (isAutomatic(message, sender)) return { id, kind: 'automatic' };
  return { id, kind: 'reply', from, subject, emailIds: repliedIds(message) };
}
