import type { SmtpStage } from '../transport/message.ts';
import { judgeRefusal, refusalWords, type RefusalVerdict } from './judge-refusal.ts';

/** What a refusal, permanent (5xx) or temporary (4xx), says beyond the one email. */
export interface RefusalSigns {
  kind: 'about us' | 'about the message' | 'too fast' | 'dead address' | 'nothing';
  /** The server's words without what differs between recipients, so that refusals can be compared. */
  words: string;
  /** Code and rule, which name no recipient. */
  reason: string;
  /** What it counts as in the results of the source: for speed, for reputation or policy, because the mailbox is dead. */
  cause: 'speed' | 'reputation' | 'mailbox' | 'other';
}

/** The codes of replies to email that comes too fast. */
const RATE_CODES = /^4(?:21|5[0124])\b/;
const RATE_WORDS =
  /\brate\b|rate[- ]?(?:limit|control)|too many (?!messages (?:on|in))|throttl|slow(?:ing)? down|too (?:fast|quick|frequent)|frequency|(?:sending|sender|message|connection|hourly|daily) (?:\S+ )?(?:limit|quota)|limits? (?:\S+ )?exceeded|per (?:second|minute|hour|day|session|connection)\b|unusual (?:rate|volume|traffic)|unexpected volume|tss04/;
/** Exchange Online slows an address down with "Server busy. Please try again later from [192.0.2.1]. (S77719)". */
const SLOWED_BY_MICROSOFT = /^451 4\.7\.500 server busy/i;
/** Words that say only that a refusal is temporary. They are removed to find the cause. */
const FOR_NOW =
  /temporar(?:y|ily)|(?:please )?(?:re)?try(?:ing)? again (?:later|in|after|soon)|(?:please )?(?:re)?try (?:\S+ ){0,3}(?:back )?later|later time/g;
const GREYLISTED_OR_BUSY = /gr[ae]y-?list|too busy|overload|high load|too many (?:\S+ )?(?:connections|sessions)/;
const ABOUT_US = new Set(['listed', 'listed-language', 'reputation', 'authentication', 'sending-host', 'spam']);
/** Rules by which a provider refuses for reputation or policy, also for good and of one message. */
const REPUTATION = new Set([...ABOUT_US, 'spam-content', 'policy', 'policy-status']);
/** Rules about one recipient's mailbox or address. */
const OF_THE_MAILBOX = /^(?:mailbox-full|recipient-rate|no-smtputf8)/;
const WORDS_LENGTH_MAX = 120;

/** Whether a rule means that a provider refuses for reputation or policy. */
export function isReputation(rule: string): boolean {
  return REPUTATION.has(rule);
}

const codeOf = (reply: string): string => /^[245]\d\d/.exec(reply)?.[0] ?? '';

/**
 * Judges what a refusal says about the sender's standing at a provider. Without a `verdict` the text alone decides.
 * @param outcome its reply has codes, such as `421 4.7.0 Too many messages`
 */
export function signsOf(
  recipient: string,
  { reply, stage, isOurs }: { reply: string; stage: SmtpStage; isOurs?: true },
  verdict?: RefusalVerdict,
): RefusalSigns {
  const code = codeOf(reply);
  const all = refusalWords(reply);
  const text = isOurs ? '' : all;
  const name = recipient.slice(0, recipient.lastIndexOf('@')).toLowerCase();
  const words = all
    .split(' ')
    .filter((word) => word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '') !== name)
    .map((word) => (/\d/.test(word) ? '#' : word))
    .join(' ')
    .slice(0, WORDS_LENGTH_MAX);
  const judged = verdict ?? judgeRefusal({ stage, text });
  const reason = `${code} ${judged.rule}`.trim();
  const signs = { words, reason, cause: 'other' as RefusalSigns['cause'] };
  // The connection broke, and the server said nothing.
  if (code === '') return { ...signs, kind: 'nothing' };
  if (OF_THE_MAILBOX.test(judged.rule)) return { ...signs, kind: 'nothing' };
  const cause = judged.rule === 'passing-fault' && !GREYLISTED_OR_BUSY.test(text) ? causeOf(text) : undefined;
  if (isReputation(cause ?? judged.rule)) signs.cause = 'reputation';
  const isTooFast = RATE_CODES.test(reply) && RATE_WORDS.test(text);
  if (isTooFast || SLOWED_BY_MICROSOFT.test(reply)) return tooFast(signs);
  if (cause) return { ...signs, reason: `${code} ${cause}`, kind: 'about us' };
  if (code.startsWith('4')) {
    const isAboutUs = judged.kind === 'sender' && judged.mayPass && judged.rule !== 'no-rule';
    return { ...signs, kind: isAboutUs ? 'about us' : 'nothing' };
  }
  if (judged.kind === 'hard') return { ...signs, kind: 'dead address', cause: 'mailbox' };
  if (judged.kind !== 'sender') return { ...signs, kind: 'nothing' };
  // A permanent refusal of content concerns one project's messages, so other projects must not wait for it.
  return { ...signs, kind: judged.mayPass ? 'about us' : 'about the message' };
}

/** A provider that names reputation as the cause of its limit is heard. */
function tooFast(signs: Omit<RefusalSigns, 'kind'>): RefusalSigns {
  return { ...signs, kind: 'too fast', cause: signs.cause === 'other' ? 'speed' : signs.cause };
}

/** The rule that names what a temporary refusal has against the sender; undefined when its text names nothing. */
function causeOf(text: string): string | undefined {
  const { rule } = judgeRefusal({ stage: 'mail', text: text.replace(FOR_NOW, ' ') });
  return ABOUT_US.has(rule) ? rule : undefined;
}
