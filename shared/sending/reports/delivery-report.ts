import { parseAmazonNotification } from './amazon-notification.ts';
import { isMachineAddress } from './automatic-message.ts';
import { parseDsn, type DsnRecipient } from './dsn.ts';
import { parseFailureNotice, reasonIn, wordsOfNotice } from './failure-notice.ts';
import { decodeBody, readEntity, readParts, subjectOf, type MimeEntity } from './mime-reader.ts';

/** How many messages inside the message are read, because a gateway may have wrapped a report. None inside these are. */
const WRAPPED_MAX = 3;

/** Status codes that give no reason: `x.0.0`, and faults of a system or a protocol where the words would say which. */
const VAGUE_STATUS = /^\d\.(?:0\.0|3\.0|5\.0)$/;

/** Adds the reason from the text of the report to recipients whose Diagnostic-Code field gives none. */
function withReasons(
  message: MimeEntity,
  parts: readonly MimeEntity[],
  recipients: readonly DsnRecipient[],
): DsnRecipient[] {
  const isVague = ({ action, status, diagnostic }: DsnRecipient): boolean =>
    action === 'failed' && VAGUE_STATUS.test(status) && !/\p{L}{3}/u.test(diagnostic);
  const reason = recipients.some(isVague) ? reasonIn(wordsOfNotice(message, parts)) : '';
  if (reason === '') return [...recipients];
  return recipients.map((each) => (isVague(each) ? { ...each, diagnostic: reason } : each));
}

/**
 * Reads a delivery report: the form of RFC 3464 in any part, and notifications of Amazon. From machines it also reads
 * reports in free text, and reports wrapped into another message.
 * @returns undefined when the message is no report
 */
export function readDeliveryReport(
  message: MimeEntity,
  parts: readonly MimeEntity[],
  isMachine: boolean,
  wrappedMax = WRAPPED_MAX,
): DsnRecipient[] | undefined {
  const recipients = parseDsn(parts);
  if (recipients && recipients.length > 0) return withReasons(message, parts, recipients);
  if (!isMachine) return recipients;
  const notice =
    parseAmazonNotification(message)?.recipients ??
    parseFailureNotice(message, parts, recipients ? '' : subjectOf(message));
  if (notice && notice.some((each) => each.diagnostic !== '')) return notice;
  const wrapped = parts.filter((part) => part.contentType === 'message/rfc822').slice(0, wrappedMax);
  for (const part of wrapped) {
    const inner = readEntity(decodeBody(part));
    const isReport = inner.contentType === 'multipart/report' || isMachineAddress(inner.field('from'));
    const found = isReport
      ? readDeliveryReport(inner, readParts(inner), isMachineAddress(inner.field('from')), 0)
      : undefined;
    if (found) return found;
  }
  return notice ?? recipients;
}
