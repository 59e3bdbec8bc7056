import { replyCodeIn } from '../verdict/judge-report.ts';
import { decodeText, printable, readFields, type MimeEntity } from './mime-reader.ts';

/** The part of a report about one recipient. */
export interface DsnRecipient {
  /** failed, delayed, delivered, relayed or expanded. */
  action: string;
  /** Enhanced status code (RFC 3463), such as 5.1.1; `x.0.0` where only the class is known. */
  status: string;
  /** The reply of the server that refused; empty when there is none. */
  diagnostic: string;
  /** The recipient that the report names, in lower case; not proven; empty when it names none. */
  recipient: string;
  /** The server that refused, as the report names it; empty when it names none. */
  remoteMta: string;
}

export const DIAGNOSTIC_LENGTH_MAX = 1_000;
const HOST_LENGTH_MAX = 255;
export const RECIPIENTS_MAX = 50;
const STATUS_TYPES = ['message/delivery-status', 'message/global-delivery-status', 'message/x-delivery-status'];

/** An enhanced status code in a text. After a word, such as the name of a program, 2.x and 4.x may be a version. */
const STATUS_IN_TEXT = /(?:(?<![\d.])5|(?<=(?:^|[45]\d\d[ -]|[#(:;,<[="']) ?)[24])\.[0-7]\.\d{1,3}(?![\d.]*\d)/;

/**
 * The enhanced status code of a report. Without a status field it is found in the diagnostic; without any, the reply
 * code or the action gives the class.
 */
export function statusOf(field: string, diagnostic: string, action: string): string {
  const status = /^[245]\.\d{1,3}\.\d{1,3}/.exec(field)?.[0] ?? STATUS_IN_TEXT.exec(diagnostic)?.[0];
  if (status !== undefined) return status;
  const replyClass = replyCodeIn(diagnostic)?.[0] ?? (action === 'failed' ? '5' : '2');
  return `${replyClass}.0.0`;
}

/** The actions of RFC 3464. */
const ACTIONS = ['failed', 'delayed', 'delivered', 'relayed', 'expanded'];

/**
 * The Action field. Without one, or with a word of a server's own such as `error`, the action follows from the status.
 */
function actionOf(field: string | undefined, status: string): string | undefined {
  const action = field?.toLowerCase().split(/[\s(;]/, 1)[0];
  if (action !== undefined && ACTIONS.includes(action)) return action;
  if (/^5\./.test(status) || /^(?:fail|error)/.test(action ?? '')) return 'failed';
  return /^4\./.test(status) ? 'delayed' : action;
}

/** The value after the type in fields such as `rfc822; joe@example.com`. */
function valueOf(field: string | undefined): string {
  return printable((field ?? '').replace(/^[\w-]{1,40}\s*;/, ''));
}

/** Reads the field groups of a report (RFC 3464), one for each recipient. */
export function readStatusGroups(text: string): DsnRecipient[] {
  return text.split(/\r?\n[ \t]*\r?\n/, RECIPIENTS_MAX + 2).flatMap((group) => {
    const fields = readFields(group.replace(/^[\r\n]+/, ''));
    const first = (name: string): string | undefined => fields.get(name)?.[0];
    const statusField = first('status') ?? '';
    const action = actionOf(first('action'), statusField);
    if (action === undefined) return [];
    const diagnostic = valueOf(first('diagnostic-code')).slice(0, DIAGNOSTIC_LENGTH_MAX);
    const recipient = valueOf(first('original-recipient') ?? first('final-recipient'))
      .replace(/^<|>$/g, '')
      .toLowerCase();
    const remoteMta = valueOf(first('remote-mta')).slice(0, HOST_LENGTH_MAX);
    return [{ action, status: statusOf(statusField, diagnostic, action), diagnostic, recipient, remoteMta }];
  });
}

/**
 * Reads the report of RFC 3464 among the parts of a message.
 * @returns undefined when there is none
 */
export function parseDsn(parts: readonly MimeEntity[]): DsnRecipient[] | undefined {
  const part = parts.find((each) => STATUS_TYPES.includes(each.contentType));
  return part && readStatusGroups(decodeText(part));
}
