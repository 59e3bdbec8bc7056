import type { Hold } from '../../pure/emails/hold.ts';
import type { AttemptLedger } from '../ports.ts';
import type { Later } from '../postponed.ts';
import type { MailStream } from './shaping.ts';
import type { UsedRules } from './used-rules.ts';

/** The permission to send one email. End it with `settle` or `abandon`. */
export interface Grant {
  projectId: string;
  recipient: string;
  provider: string;
  /** The relays that must not get the email; missing when all may. */
  avoid?: ReadonlySet<string>;
  /** The pauses that the email probes, by key. */
  probes?: readonly string[];
  /** The traffic rules that the email uses. */
  rules?: UsedRules;
  /** What was known of the email when it asked; what becomes of it is counted then. */
  email?: CountedEmail;
}

/** An email whose answers are counted. */
export interface CountedEmail extends Pick<AttemptLedger, 'answered'> {
  /** When it was due, in milliseconds since 1970. */
  dueMs: number;
}

/** An email that a traffic rule keeps from going now. Ask again after `waitMs`, or let it wait with its hold. */
export interface Postponement extends Later {
  /** How many emails a second the rule lets go. */
  perSecond: number;
  hold: (emailId: string) => Hold;
}

export interface Question {
  projectId: string;
  /** Whose email it is: owners have what is free in turns. */
  owner: string;
  /** The address of the recipient. */
  recipient: string;
  stream: MailStream;
  signal: AbortSignal;
  email?: CountedEmail;
}
