import type { ProviderWait } from '../pure/emails/provider-wait.ts';
import type { RefusalVerdict } from './verdict/judge-refusal.ts';
import type { ProviderHealth, ProviderReport } from './permit/provider-health.ts';

/** The earlier attempts of an email. */
export interface AttemptLedger {
  emailId: string;
  subject: string | null;
  deferrals: number;
  uncertainAttempts: number;
  /** The time since which its provider has held it up; null when it has not. */
  heldAt: Date | null;
}

/** Why an email is not sent now, and for how many milliseconds. */
export interface Hold {
  wait: ProviderWait;
  ms: number;
}

/** Further facts about an outcome. */
export interface OutcomeAssessment {
  verdict?: RefusalVerdict;
  /** The email waits without a counted attempt: the server limits the speed, or refuses all our emails. */
  hold?: Hold;
}

/** The known states of providers and relays, by their keys; those without trouble are left out. */
export interface ProviderStates {
  /** The time of the database, which the times in the states refer to. */
  nowMs: number;
  states: Map<string, ProviderHealth>;
  /** The state of each key of the reports, before and after this call. */
  changes: { key: string; before: ProviderHealth; after: ProviderHealth }[];
}

/** Emails of a project that were handed over. */
export interface SentCount {
  projectId: string;
  provider: string;
  count: number;
}

/** What all workers know together about the speed and the health of their recipients' providers. */
export interface PermitStore {
  /**
   * Applies the reports of a worker to the states, and reads the states that all workers have written.
   * @param relays the relays whose states are read
   * @param reports by `healthKey`
   */
  exchange: (relays: readonly string[], reports: ReadonlyMap<string, ProviderReport>) => Promise<ProviderStates>;
  /** Counts emails that were handed over; each project and provider occurs once in the input. */
  countSent: (counts: readonly SentCount[]) => Promise<void>;
}
