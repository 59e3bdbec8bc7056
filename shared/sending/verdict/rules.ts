import { HARD_RULES } from './hard-rules.ts';
import type { RefusalRule } from './refusal-rule.ts';
import { SENDER_RULES } from './sender-rules.ts';
import { STATUS_RULES } from './status-rules.ts';
import { TEMPORARY_RULES } from './temporary-rules.ts';

/**
 * All rules in order: the first that matches decides. The rules for passing faults and for the sender come first, so
 * that mixed words never make a refusal hard. A refusal that matches no rule counts as `sender`: that costs a retry,
 * whereas a wrong `hard` would suppress a living address.
 */
export const REFUSAL_RULES: readonly RefusalRule[] = [
  ...TEMPORARY_RULES,
  ...SENDER_RULES,
  ...HARD_RULES,
  ...STATUS_RULES,
];
