/**
 * When a server refused: at an SMTP command (`data` is DATA and the content after it), or later, in a report that names
 * no command.
 */
export type RefusalStage = 'mail' | 'rcpt' | 'data' | 'report';

/** The reply of a server that did not accept an email. */
export interface Refusal {
  stage: RefusalStage;
  /** Reply code of RFC 5321, such as 550; undefined where a report gives none. */
  code?: number | undefined;
  /** Enhanced status code of RFC 3463, such as 5.1.1. */
  enhancedCode?: string | undefined;
  /** The server's words, with or without the codes. */
  text: string;
}

/**
 * What a refusal means. `hard`: the address will never accept mail. `sender`: the server objects to the sender or the
 * message, and nothing is known about the address. `temporary`: a passing fault, such as a full mailbox.
 */
export type RefusalKind = 'hard' | 'sender' | 'temporary';

export interface RefusalVerdict {
  kind: RefusalKind;
  /** Whether the server may accept the same message later. */
  mayPass: boolean;
  /** The id of the rule that decided. */
  rule: string;
}

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

/** Rules for one kind of refusal. */
export function rulesOf(kind: RefusalKind, rules: readonly Omit<RefusalRule, 'kind'>[]): readonly RefusalRule[] {
  return rules.map((rule) => ({ kind, ...rule }));
}

/** One pattern from several alternatives, so that a long rule can be read line by line. */
export function anyOf(...alternatives: RegExp[]): RegExp {
  return new RegExp(alternatives.map((each) => each.source).join('|'), 'u');
}
