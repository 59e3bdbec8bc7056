import type { SmtpOutcome } from './message.ts';
import type { Source } from './smtp-url.ts';

/** What is known of a server. */
export interface RelayState {
  /** `host:port`. */
  label: string;
  source: Source;
  connections: number;
  isDown: boolean;
  /** Whether messages leave this machine unencrypted. */
  isInClear: boolean;
  outcomes: Readonly<Record<SmtpOutcome['kind'], number>>;
}
