/**
 * What work costs, and which size of an installation follows; docs/scaling.md explains it. The costs were measured with
 * `npm run bench -- costs` on a machine with two cores; put your own in their place.
 */

/** CPU in milliseconds, bytes and rows in PostgreSQL, actions of Temporal, for one unit of work. */
export interface Cost {
  api: number;
  worker: number;
  postgres: number;
  temporal: number;
  /** Tables and their indexes. */
  storedBytes: number;
  walBytes: number;
  actions: number;
}

/** Kinds of work: an event on /v1/track, an email of /v1/send, an execution with one email, an email of a campaign. */
export const WORK = ['event', 'transactional', 'execution', 'campaign'] as const;
export type Work = (typeof WORK)[number];

export const COSTS: Record<Work, Cost> = {
  event: { api: 0.25, worker: 0, postgres: 0.11, temporal: 0, storedBytes: 640, walBytes: 1_200, actions: 0 },
  // The actions are those of an email that comes alone; under load up to a thousand emails share a workflow.
  transactional: {
    api: 0.44,
    worker: 0.25,
    postgres: 0.42,
    temporal: 0.06,
    storedBytes: 3_160,
    walBytes: 5_260,
    actions: 2,
  },
  execution: {
    api: 0.07,
    worker: 10.4,
    postgres: 3.7,
    temporal: 12.1,
    storedBytes: 5_540,
    walBytes: 11_860,
    actions: 1.04,
  },
  campaign: {
    api: 0.002,
    worker: 0.14,
    postgres: 0.074,
    temporal: 0.011,
    storedBytes: 1_290,
    walBytes: 1_750,
    actions: 0.0009,
  },
};

/** How an installation is used; the defaults are assumptions. */
export const ASSUMPTIONS = {
  /** Units of work per email that is sent. */
  perEmail: { event: 1, transactional: 0.1, execution: 0.1, campaign: 0.8 } satisfies Record<Work, number>,
  /** How much faster than on average the busiest hour is. Campaigns leave in a tenth of the hours. */
  peak: { event: 4, transactional: 4, execution: 4, campaign: 10 } satisfies Record<Work, number>,
  /** The planned use of a core; the rest is a reserve for faults and busier hours. */
  utilisation: 0.6,
  /** Months that records of email and events are kept. */
  monthsKept: 3,
  /** Cores that one PostgreSQL server has at most, as services offer them. */
  databaseCoresMax: 64,
  /** The most data that one server can copy and vacuum within a night. */
  databaseBytesMax: 8e12,
};
export type Assumptions = typeof ASSUMPTIONS;

const SECONDS_PER_MONTH = 30 * 24 * 3_600;
/** Two of each, so that one may fail. */
const PROCESSES_MIN = 2;

export interface Sizing {
  peakPerSecond: Record<Work, number>;
  apiProcesses: number;
  workerProcesses: number;
  postgresCores: number;
  temporalCores: number;
  storedBytes: number;
  peakWalBytesPerSecond: number;
  actionsPerMonth: number;
  peakActionsPerSecond: number;
  /** Over how many PostgreSQL servers projects have to be spread. */
  databases: number;
  cloudUsdPerMonth: number;
}

function sumOf(amount: (work: Work) => number): number {
  return WORK.reduce((sum, work) => sum + amount(work), 0);
}

/**
 * Price of actions on Temporal Cloud: from how many on, and dollars a million. A list of 2025; the last step is
 * negotiated.
 */
const CLOUD_PRICES = [
  [0, 50],
  [5e6, 45],
  [10e6, 40],
  [20e6, 35],
  [50e6, 30],
  [100e6, 25],
] as const;

/** What so many actions in a month cost on Temporal Cloud, in dollars, without storage and support. */
export function cloudPrice(actions: number): number {
  return CLOUD_PRICES.reduce((sum, [from, dollars], index) => {
    const to = CLOUD_PRICES[index + 1]?.[0] ?? Number.POSITIVE_INFINITY;
    return sum + (Math.max(0, Math.min(actions, to) - from) / 1e6) * dollars;
  }, 0);
}

/** What an installation needs that sends so many emails in a month. */
export function sizeFor(emailsPerMonth: number, assumptions: Assumptions = ASSUMPTIONS, costs = COSTS): Sizing {
  const { perEmail, peak, utilisation, monthsKept, databaseCoresMax, databaseBytesMax } = assumptions;
  const perMonth = (work: Work): number => emailsPerMonth * perEmail[work];
  const peakRate = (work: Work): number => (perMonth(work) / SECONDS_PER_MONTH) * peak[work];
  const coresOf = (part: 'api' | 'worker' | 'postgres' | 'temporal'): number =>
    sumOf((work) => (peakRate(work) * costs[work][part]) / 1_000) / utilisation;
  const storedBytes = sumOf((work) => perMonth(work) * costs[work].storedBytes) * monthsKept;
  const postgresCores = coresOf('postgres');
  const actionsPerMonth = sumOf((work) => perMonth(work) * costs[work].actions);
  return {
    peakPerSecond: Object.fromEntries(WORK.map((work) => [work, peakRate(work)])) as Record<Work, number>,
    // A process of Node.js uses little more than one core.
    apiProcesses: Math.max(PROCESSES_MIN, Math.ceil(coresOf('api'))),
    workerProcesses: Math.max(PROCESSES_MIN, Math.ceil(coresOf('worker'))),
    postgresCores,
    temporalCores: coresOf('temporal'),
    storedBytes,
    peakWalBytesPerSecond: sumOf((work) => peakRate(work) * costs[work].walBytes),
    actionsPerMonth,
    peakActionsPerSecond: sumOf((work) => peakRate(work) * costs[work].actions),
    databases: Math.max(1, Math.ceil(Math.max(postgresCores / databaseCoresMax, storedBytes / databaseBytesMax))),
    cloudUsdPerMonth: cloudPrice(actionsPerMonth),
  };
}

/**
 * Units a second of one machine that runs all parts. The limit is the time of its cores or of the threads of its
 * workers, whichever is less.
 * @param cpuMs CPU time of one unit by process; `worker` is that of all workers together
 */
export function predictRate(cpuMs: Readonly<Record<string, number>>, workers: number, cores: number): number {
  const total = Object.values(cpuMs).reduce((sum, ms) => sum + ms, 0);
  const byCores = (cores * 1_000) / total;
  const byWorkers = (workers * 1_000) / (cpuMs['worker'] ?? 0);
  return Math.min(byCores, byWorkers);
}
