import type { TestStack } from '../stack.ts';

/** Work of one kind that is under way whenever the worker is killed. */
export interface Load {
  /** What must have become of it. */
  name: string;
  /** False for work that cannot be kept in its middle. It begins just before the kill. */
  isHeld: boolean;
  begin: () => Promise<void>;
  /** Waits until the work is in its middle, and keeps it there. */
  hold: (kill: number) => Promise<void>;
  /** Called when the worker is dead, and before the next one starts. */
  letGo: (kill: number) => Promise<void>;
  /** Waits for the end of the work, and checks what has become of it. */
  check: () => Promise<void>;
}

/** The stack, and what the SMTP server waits for before it replies to a recipient of a domain. */
export interface KillWorld extends TestStack {
  beforeReply: Map<string, () => Promise<unknown>>;
}

export const PATIENCE_MS = 90_000;

/** How often each recipient of a domain has got an email. */
export function recipientCountsOf({ sink }: KillWorld, domain: string): number[] {
  return [...sink.recipientCounts()].filter(([address]) => address.endsWith(`@${domain}`)).map(([, count]) => count);
}
