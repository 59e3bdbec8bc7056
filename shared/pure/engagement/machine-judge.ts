import { MACHINE_AGENTS, type EngagementKind, type MachineAgent } from './machine-tables.ts';

/** Why an open or a click is a machine's. `docs/feedback.md` explains each. */
export const MACHINE_REASONS = [
  'method',
  'prefetch',
  'user_agent',
  'mail_proxy',
  'network',
  'too_soon',
  'many_links',
  'hidden_link',
] as const;
export type MachineReason = (typeof MACHINE_REASONS)[number];

/** What a request shows of its client. */
export interface RequestFacts {
  kind: EngagementKind;
  method: string;
  /** The headers in which a browser says that it loads something ahead, joined. */
  purpose: string;
  /** The program that the user agent names; undefined for what may be a person's. */
  agent: MachineAgent | undefined;
  /** Where the client is: at the owner of a security gateway, in a data centre, or elsewhere. */
  network: 'scanner' | 'hosting' | undefined;
  /** Whether it has `Accept-Language`, which every browser sends. */
  hasLanguage: boolean;
}

/** What the client has done with the email, and when. */
export interface VisitFacts {
  /** How it has shown that it is a machine. */
  machine: 'many_links' | 'hidden_link' | undefined;
  /** Whether it has followed different links. */
  isSeveral: boolean;
  /** The time from the hand-over of the email to the request, in milliseconds; undefined when it is unknown. */
  afterMs: number | undefined;
}

/** A machine's verdict; an ignored request is counted nowhere. */
export interface MachineVerdict {
  reason: MachineReason;
  isIgnored: boolean;
}

/** No person follows a link so soon: the push notification alone takes longer. */
const SOONEST_MS = 1_000;
/** A person may, but seldom does. Another hint decides. */
const SOON_MS = 10_000;
/** No person follows two different links within this time. */
export const LINKS_GAP_MS = 2_000;

const PREFETCH = /prefetch|preview|prerender/i;

/** The program that a user agent names, for requests of one kind; undefined for what may be a person's. */
export function agentOf(userAgent: string, kind: EngagementKind): MachineAgent | undefined {
  const fitting = MACHINE_AGENTS.filter(
    ({ only = kind, patterns }) => only === kind && patterns.some((pattern) => pattern.test(userAgent)),
  );
  return fitting.find(({ isIgnored }) => isIgnored) ?? fitting[0];
}

const counted = (reason: MachineReason): MachineVerdict => ({ reason, isIgnored: false });

/** The verdict on a request by itself, whatever else its client does; undefined when it may be a person's. */
export function judgeRequest({ method, purpose, agent, network }: RequestFacts): MachineVerdict | undefined {
  if (method !== 'GET') return { reason: 'method', isIgnored: true };
  if (PREFETCH.test(purpose)) return { reason: 'prefetch', isIgnored: true };
  if (agent) {
    const { isMailProxy = false, isIgnored = false } = agent;
    return { reason: isMailProxy ? 'mail_proxy' : 'user_agent', isIgnored };
  }
  return network === 'scanner' ? counted('network') : undefined;
}

function judgeClick(request: RequestFacts, { isSeveral, afterMs = Infinity }: VisitFacts): MachineReason | undefined {
  const isHosting = request.network === 'hosting';
  if (afterMs < SOONEST_MS) return 'too_soon';
  if (afterMs < SOON_MS && isSeveral) return 'many_links';
  if (afterMs < SOON_MS && (isHosting || !request.hasLanguage)) return 'too_soon';
  return isHosting && !request.hasLanguage ? 'network' : undefined;
}

/** The verdict on an open or a click; undefined when a person made it. */
export function judge(request: RequestFacts, visit: VisitFacts): MachineVerdict | undefined {
  const verdict = judgeRequest(request);
  if (verdict) return verdict;
  const reason = visit.machine ?? (request.kind === 'click' ? judgeClick(request, visit) : undefined);
  return reason && counted(reason);
}
