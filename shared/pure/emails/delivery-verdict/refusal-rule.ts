import type { RefusalKind, RefusalStage } from './judge-refusal.ts';

/** One way servers refuse. What is given must match, all of it; texts are in lower case, without addresses and codes. */
export interface RefusalRule {
  id: string;
  kind: RefusalKind;
  /** The source of the rule: the RFC, the software or the provider. */
  source: string;
  stages?: readonly RefusalStage[];
  code?: RegExp;
  enhanced?: RegExp;
  words?: RegExp;
  /** The same message will be refused again, whatever happens meanwhile. */
  isFinal?: true;
}

/** Joins alternatives, so that a rule can be read line by line. */
export function anyOf(...alternatives: RegExp[]): RegExp {
  return new RegExp(alternatives.map((each) => each.source).join('|'), 'u');
}
