import { decodeBody, printable, readFields, readParts, type MimeEntity } from './mime-reader.ts';

/** What a delivery status notification (RFC 3464) says of one recipient. */
export interface DsnRecipient {
  /** failed, delayed, delivered, relayed or expanded. */
  action: string;
  /** Enhanced status code (RFC 3463), such as 5.1.1. */
  status: string;
  /** The words of the server that refused; empty when there are none. */
  diagnostic: string;
}

const DIAGNOSTIC_LENGTH_MAX = 500;
const RECIPIENTS_MAX = 50;

/** Not every server fills the status in; then the reply code in its diagnostic tells the class. */
function statusOf(field: string, diagnostic: string, action: string): string {
  const status = /^[245]\.\d{1,3}\.\d{1,3}/.exec(field)?.[0] ?? /\b[245]\.\d{1,3}\.\d{1,3}\b/.exec(diagnostic)?.[0];
  if (status !== undefined) return status;
  const replyClass = /\b([245])\d\d\b/.exec(diagnostic)?.[1] ?? (action === 'failed' ? '5' : '2');
  return `${replyClass}.0.0`;
}

/** Reads a report, undefined when the message is none. The recipients named are those of the report, not proven. */
export function parseDsn(message: MimeEntity): DsnRecipient[] | undefined {
  const part = readParts(message).find((each) =>
    ['message/delivery-status', 'message/global-delivery-status'].includes(each.contentType),
  );
  if (!part) return undefined;
  const groups = decodeBody(part).split(/\r?\n[ \t]*\r?\n/, RECIPIENTS_MAX + 2);
  return groups.flatMap((group) => {
    const fields = readFields(group.replace(/^[\r\n]+/, ''));
    const action = fields
      .get('action')?.[0]
      ?.toLowerCase()
      .split(/[\s(;]/, 1)[0];
    if (action === undefined) return [];
    const words = fields.get('diagnostic-code')?.[0] ?? '';
    const diagnostic = printable(words.replace(/^[\w-]+\s*;/, '')).slice(0, DIAGNOSTIC_LENGTH_MAX);
    return [{ action, status: statusOf(fields.get('status')?.[0] ?? '', diagnostic, action), diagnostic }];
  });
}
