import type { RefusalKind, RefusalStage } from './judge-refusal.ts';

/** A kind of refusal. All conditions that are given must match. `words` sees the text as `refusalWords` returns it. */
export interface RefusalRule {
  id: string;
  kind: RefusalKind;
  /** The source of the rule: the RFC, the software or the provider. */
  source: string;
  stages?: readonly RefusalStage[];
  code?: RegExp;
  enhanced?: RegExp;
  words?: RegExp;
  /** The server will refuse the same message every time. */
  isFinal?: true;
}

/** One pattern from several alternatives, so that a long rule can be read line by line. */
export function anyOf(...alternatives: RegExp[]): RegExp {
  return new RegExp(alternatives.map((each) => each.source).join('|'), 'u');
}
