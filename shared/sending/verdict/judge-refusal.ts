import type { SmtpOutcome } from '../transport/message.ts';
import type { Refusal, RefusalRule, RefusalStage, RefusalVerdict } from './refusal-rule.ts';
import { REFUSAL_RULES } from './rules.ts';

export type { Refusal, RefusalKind, RefusalStage, RefusalVerdict } from './refusal-rule.ts';

const TEXT_LENGTH_MAX = 1_000;
/**
 * Addresses are removed from the words: `<spam@example.com>` says nothing about spam. The search begins only where a
 * word begins, so a long word without an @ takes linear time. Chinese and Japanese put no spaces around an address, so
 * their characters end it.
 */
const ADDRESS =
  /<[^<>\s]*@[^<>\s]*>|(?<![^\s<>()[\]:;,"'\u3000-\u9fff\uff00-\uffef])[^\s<>()[\]:;,"'\u3000-\u9fff\uff00-\uffef]+@[^\s<>()[\]:;,"'\u3000-\u9fff\uff00-\uffef]+/g;
/** A link. Its host is kept, and the parameter `p` in which Gmail names the reason. */
const LINK = /https?:\/\/([^\s/"'<>]{1,255})(?:[^\s"'<>]*?[?&]p=(\w{1,40}))?[^\s"'<>]*/gi;
/** The codes of a reply. Each of its lines begins with them, even in the middle of a sentence. */
const LINE_CODES = /(?:^|\s)[245]\d\d(?:[- ]#?[245]\.\d{1,3}\.\d{1,3})?(?=[-\s])-?/g;
/** An enhanced status code at the beginning of a text, or after the words in the form `(#5.1.1)`. */
const CODE_IN_TEXT = /(?:^[245]\d\d[- ]|#)([245]\.\d{1,3}\.\d{1,3})\b/;

/** The words of a refusal in lower case, without addresses, codes and the paths of links. */
export function refusalWords(text: string): string {
  return text
    .slice(0, TEXT_LENGTH_MAX)
    .replace(LINK, ' $1 $2 ')
    .replace(ADDRESS, ' ')
    .replace(LINE_CODES, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();
}

function isMatch(rule: RefusalRule, stage: RefusalStage, code: string, enhanced: string, words: string): boolean {
  return (
    (rule.stages === undefined || rule.stages.includes(stage)) &&
    (rule.code === undefined || rule.code.test(code)) &&
    (rule.enhanced === undefined || rule.enhanced.test(enhanced)) &&
    (rule.words === undefined || rule.words.test(words))
  );
}

/**
 * Judges a refusal by the first rule that it matches. Codes alone mislead: servers refuse dead addresses with 5.7.1 and
 * senders with 5.1.1, so the words come before the codes. A refusal at MAIL is never `hard`, because the server has not
 * seen the recipient.
 */
export function judgeRefusal(refusal: Refusal): RefusalVerdict {
  const { stage, text } = refusal;
  const code = refusal.code === undefined ? '' : String(refusal.code);
  const enhanced = refusal.enhancedCode ?? CODE_IN_TEXT.exec(text)?.[1] ?? '';
  const words = refusalWords(text);
  for (const rule of REFUSAL_RULES) {
    if (rule.kind === 'hard' && stage === 'mail') continue;
    if (!isMatch(rule, stage, code, enhanced, words)) continue;
    return { kind: rule.kind, mayPass: rule.kind !== 'hard' && rule.isFinal !== true, rule: rule.id };
  }
  return { kind: 'sender', mayPass: true, rule: 'no-rule' };
}

/** Judges the refusal of a message. Words of ours may name a domain such as spam.example, so they decide nothing. */
export function judgeOutcome(outcome: Extract<SmtpOutcome, { kind: 'rejected' | 'deferred' }>): RefusalVerdict {
  return judgeRefusal({ ...outcome, code: outcome.replyCode, text: outcome.isOurs ? '' : outcome.reply });
}
