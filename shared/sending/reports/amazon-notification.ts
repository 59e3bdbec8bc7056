import { DIAGNOSTIC_LENGTH_MAX, RECIPIENTS_MAX, statusOf, type DsnRecipient } from './dsn.ts';
import { decodeText, printable, type MimeEntity } from './mime-reader.ts';

/** A notification of Amazon SES over SNS about a message: a bounce, a complaint or a receipt, in JSON. */
export interface AmazonNotification {
  isComplaint: boolean;
  recipients: DsnRecipient[];
}

const LENGTH_MAX = 64 * 1024;

type Json = Record<string, unknown>;

function asObject(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value.slice(0, RECIPIENTS_MAX) : [];
}

function asText(value: unknown): string {
  return typeof value === 'string' ? printable(value).slice(0, DIAGNOSTIC_LENGTH_MAX) : '';
}

function parseObject(text: string): Json {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return {};
  }
}

/** The JSON at the beginning of a text, without the footer that SNS appends. */
function jsonIn(text: string): Json {
  const start = text.trimStart().slice(0, LENGTH_MAX);
  if (!start.startsWith('{')) return {};
  const end = start.search(/\}\s*(?:--|$)/);
  return end === -1 ? {} : parseObject(start.slice(0, end + 1).replace(/\r?\n[ ]?/g, ''));
}

/**
 * Reads a notification of Amazon SES.
 * @returns undefined for other messages
 */
export function parseAmazonNotification(message: MimeEntity): AmazonNotification | undefined {
  const outer = jsonIn(decodeText(message));
  const notification = typeof outer['Message'] === 'string' ? parseObject(outer['Message']) : outer;
  const type = asText(notification['notificationType'] ?? notification['eventType']).toLowerCase();
  if (type === 'complaint') return { isComplaint: true, recipients: [] };
  if (type !== 'bounce' && type !== 'delivery') return undefined;
  const about = asObject(notification[type]);
  if (type === 'delivery') {
    const [recipient] = asList(about['recipients']);
    const delivered = { action: 'delivered', status: '2.0.0', diagnostic: '', remoteMta: '' };
    return { isComplaint: false, recipients: [{ ...delivered, recipient: asText(recipient).toLowerCase() }] };
  }
  const recipients = asList(about['bouncedRecipients']).map((each) => {
    const fields = asObject(each);
    const diagnostic = asText(fields['diagnosticCode']).replace(/^[\w-]{1,40}\s*;\s*/, '');
    return {
      action: 'failed',
      status: statusOf(
        asText(fields['status']),
        diagnostic,
        about['bounceType'] === 'Transient' ? 'delayed' : 'failed',
      ),
      diagnostic,
      recipient: asText(fields['emailAddress']).toLowerCase(),
      remoteMta: '',
    };
  });
  return { isComplaint: false, recipients };
}
