import { decodeBody, readFields, readParts, type MimeEntity } from './mime-reader.ts';

/** A report of a feedback loop (RFC 5965): somebody pressed the spam button. */
export interface FeedbackReport {
  /** abuse, fraud, virus, not-spam, other and so on, in lower case. */
  feedbackType: string;
  /** What is left of the mail it is about, and of its envelope: the text in which our own signed marks are. */
  evidence: string;
}

const EVIDENCE_LENGTH_MAX = 128 * 1024;

/** Reads a report, undefined when the message is none. Nothing in it is proven but what we signed ourselves. */
export function parseFeedbackReport(message: MimeEntity): FeedbackReport | undefined {
  const parts = readParts(message);
  const report = parts.find((part) => part.contentType === 'message/feedback-report');
  if (!report) return undefined;
  const fields = readFields(decodeBody(report));
  const original = parts.find((part) =>
    ['message/rfc822', 'message/global', 'text/rfc822-headers', 'message/rfc822-headers'].includes(part.contentType),
  );
  const header = original
    ? decodeBody(original)
        .slice(0, EVIDENCE_LENGTH_MAX)
        .replace(/\r?\n[ \t]+/g, '')
    : '';
  return {
    feedbackType: fields.get('feedback-type')?.[0]?.toLowerCase() ?? '',
    evidence: [...(fields.get('original-mail-from') ?? []), header].join('\n'),
  };
}
