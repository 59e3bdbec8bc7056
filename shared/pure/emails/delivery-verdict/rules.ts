import { HARD_RULES } from './hard-rules.ts';
import type { RefusalRule } from './refusal-rule.ts';
import { SENDER_RULES } from './sender-rules.ts';
import { STATUS_RULES } from './status-rules.ts';
import { TEMPORARY_RULES } from './temporary-rules.ts';

/**
 * In order: the first that matches decides. Words of a passing fault or of a fault of ours come first, so that a mixture
 * of words never makes a refusal hard. What no rule knows is a fault of the sender: it costs a retry, no reader.
 */
export const REFUSAL_RULES: readonly RefusalRule[] = [
  ...TEMPORARY_RULES,
  ...SENDER_RULES,
  ...HARD_RULES,
  ...STATUS_RULES,
];
