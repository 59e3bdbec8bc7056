import { parseAmazonNotification } from './amazon-notification.ts';
import { decodeBody, plainTextOf, readFields, type MimeEntity } from './mime-reader.ts';

/** A report of a feedback loop (RFC 5965): somebody pressed the spam button. */
export interface FeedbackReport {
  /** abuse, fraud, virus, not-spam, auth-failure, opt-out, other and so on, in lower case. */
  feedbackType: string;
  /** The text of the reported email, with its envelope sender. It contains our own signed links and addresses. */
  evidence: string;
}

const EVIDENCE_LENGTH_MAX = 128 * 1024;
const REPORT_TYPES = ['message/feedback-report', 'message/x-feedback-report'];
const ORIGINAL_TYPES = ['message/rfc822', 'message/global', 'text/rfc822-headers', 'message/rfc822-headers'];
/** A field that the feedback loop of Outlook.com (JMRP) adds to the message; it sends no report of its own. */
const JMRP_FIELD = /^x-hmxmroriginalrecipient:/im;
/** The text that Apple Mail sends to unsubscribe its user. */
const OPT_OUT_WORDS = /apple mail sent this email to unsubscribe/i;

/** The original message with folded lines joined, because folds may split a token. */
function evidenceIn(message: MimeEntity, parts: readonly MimeEntity[]): string {
  const originals = parts.filter((part) => ORIGINAL_TYPES.includes(part.contentType)).map(decodeBody);
  const text = originals.length > 0 ? originals.join('\n') : message.body;
  return text.slice(0, EVIDENCE_LENGTH_MAX).replace(/\r?\n[ \t]+/g, '');
}

/** The fields of a report. Some servers send them as plain text, or without a type. */
function reportFields(message: MimeEntity, parts: readonly MimeEntity[]): Map<string, string[]> | undefined {
  const isFeedback = message.parameter('report-type').toLowerCase() === 'feedback-report';
  const part =
    parts.find((each) => REPORT_TYPES.includes(each.contentType)) ??
    (isFeedback ? parts.find((each) => /^feedback-type:/im.test(decodeBody(each).slice(0, 4_096))) : undefined);
  return part && readFields(decodeBody(part).replace(/^[\r\n]+/, ''));
}

/**
 * Reads a report of a feedback loop. Only its parts with our own signatures are proven.
 * @returns undefined for other messages
 */
export function parseFeedbackReport(message: MimeEntity, parts: readonly MimeEntity[]): FeedbackReport | undefined {
  const fields = reportFields(message, parts);
  if (fields) {
    // Comments may stand beside the type (section 3.5).
    const feedbackType = (fields.get('feedback-type')?.[0] ?? '')
      .replace(/\([^()]*\)/g, '')
      .trim()
      .toLowerCase();
    const evidence = [...(fields.get('original-mail-from') ?? []), evidenceIn(message, parts)].join('\n');
    return { feedbackType, evidence };
  }
  const forwarded = [message, ...parts].filter((part) => part.contentType === 'message/rfc822');
  if (forwarded.some((part) => JMRP_FIELD.test(part.body.slice(0, 16_384)))) {
    return { feedbackType: 'abuse', evidence: evidenceIn(message, parts) };
  }
  if (parseAmazonNotification(message)?.isComplaint) {
    return { feedbackType: 'abuse', evidence: evidenceIn(message, parts) };
  }
  return OPT_OUT_WORDS.test(plainTextOf(message, parts).slice(0, 4_096))
    ? { feedbackType: 'opt-out', evidence: evidenceIn(message, parts) }
    : undefined;
}
