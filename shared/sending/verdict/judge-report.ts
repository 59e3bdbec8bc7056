import { judgeRefusal, type RefusalVerdict } from './judge-refusal.ts';

/** What a delivery status notification (RFC 3464) says about a failed recipient. */
export interface FailureReport {
  /** Enhanced status code; `x.0.0` where the report has no detail. */
  status: string;
  /** The words of the server that refused; empty when there are none. */
  diagnostic: string;
}

/** The words of Postfix, Exim, Sendmail and qmail for a refused command that came before RCPT. */
const BEFORE_RECIPIENT =
  /(?:after|in (?:reply|response) to|>>>|command:?) (?:pipelined |the |end of )?(?:mail from|helo|ehlo|starttls)\b|(?:my name|sender) was rejected/i;

/** A reply code of RFC 5321, rather than a part of an address, a telephone number, a port or an amount. */
const REPLY_CODE =
  /(?<![\w.+/]|\d,)(?!465|587)([45]\d\d)(?=\.?(?:$|[\s\]>:;,"'-]))(?![ -]\d{3}| (?:minute|hour|day|second|attempt|message|bytes|[km]b)\S*)/;

/** The first reply code of a refusal in a text; undefined when there is none. */
export function replyCodeIn(text: string): string | undefined {
  return REPLY_CODE.exec(text)?.[1];
}

/** Judges a failure that was reported after a server had accepted the message, like `judgeRefusal`. */
export function judgeReport({ status, diagnostic }: FailureReport): RefusalVerdict {
  const code = replyCodeIn(diagnostic);
  const isVague = /^\d\.0\.0$/.test(status);
  return judgeRefusal({
    stage: BEFORE_RECIPIENT.test(diagnostic) ? 'mail' : 'report',
    code: code === undefined ? undefined : Number(code),
    enhancedCode: isVague ? undefined : status,
    text: diagnostic,
  });
}
