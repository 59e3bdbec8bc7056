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

/** Judges a failure that was reported after a server had accepted the message, like `judgeRefusal`. */
export function judgeReport({ status, diagnostic }: FailureReport): RefusalVerdict {
  const code = /\b([245]\d\d)\b/.exec(diagnostic)?.[1];
  const isVague = /^\d\.0\.0$/.test(status);
  return judgeRefusal({
    stage: BEFORE_RECIPIENT.test(diagnostic) ? 'mail' : 'report',
    code: code === undefined ? undefined : Number(code),
    enhancedCode: isVague ? undefined : status,
    text: diagnostic,
  });
}
