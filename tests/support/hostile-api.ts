import { expect } from '@jest/globals';
import type { Config } from '../../shared/platform/config.ts';
import { testConfig } from './config.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { eventually } from './eventually.ts';
import { createTestNamespace } from './temporal.ts';
import { createTestProject, type TestProject } from './api.ts';
import { createApiProcess, type ApiProcess } from './api-process.ts';
import { LOOP_WATCH, type LoopReport } from './everpost-process.ts';

/** A busy machine starts a process slowly. */
const START_MS_MAX = 60_000;
const HEAP_MEGABYTES = 256;
/** The longest turn of the event loop that one request may cause, in milliseconds of CPU time. */
export const TURN_MAX_MS = 50;
const RSS_GROWTH_MAX = 120 * 1024 * 1024;

export interface HostileApi {
  process: ApiProcess;
  url: string;
  /** The project that attacks. */
  attacker: TestProject;
  /** Another project, which must be served as fast as usual. */
  neighbour: TestProject;
  database: TestDatabase;
  /** Runs an attack, and checks that the process serves the neighbour afterwards. @returns the cost of the attack */
  attack: (run: () => Promise<unknown>) => Promise<LoopReport>;
  stop: () => Promise<void>;
}

/** A real API process with a small heap that reports its longest turn of the event loop; without docs unless asked for. */
export async function startHostileApi(
  overrides: Partial<Config> = {},
  variables: NodeJS.ProcessEnv = {},
): Promise<HostileApi> {
  const [database, temporal] = await Promise.all([createTestDatabase(), createTestNamespace()]);
  const config = testConfig({ DATABASE_URL: database.url, API_RATE_LIMIT_PER_MINUTE: 1_000_000, ...overrides });
  const nodeArguments = [`--max-old-space-size=${HEAP_MEGABYTES}`, '--import', LOOP_WATCH];
  const api = await createApiProcess(config, temporal, nodeArguments, variables);
  api.start();
  await eventually(async () => (await fetch(`${api.url}/ready`)).ok, START_MS_MAX).catch(async (error: unknown) => {
    // A process that stays would keep Jest from ending.
    await api.kill();
    throw error;
  });

  const attacker = await createTestProject(database.orm.em.fork(), api.url);
  const neighbour = await createTestProject(database.orm.em.fork(), api.url);

  async function assertServing(): Promise<void> {
    const body = { email: 'ada@example.com', event: 'visited' };
    const { status } = await neighbour.api('POST', '/v1/track', { key: 'public', body });
    if (status !== 200 || !api.isRunning()) throw new Error(`the neighbour was answered ${status}`);
  }
  // The first requests make Node compile code and open connections, which must not count as an attack.
  for (let turn = 0; turn < 20; turn++) await assertServing();

  return {
    process: api,
    url: api.url,
    attacker,
    neighbour,
    database,
    async attack(run) {
      await api.ask('report');
      await run();
      await assertServing();
      return api.ask('report');
    },
    async stop() {
      await api.kill();
      await temporal.close();
      await database.drop();
    },
  };
}

const ROUNDS_MAX = 5;

/**
 * Repeats an attack whose longest turn is not below `turnMaxMs`. A garbage collection also takes a turn, and takes longer
 * on a busy machine, but seldom at the same attack again. What an attack itself causes takes as long at every round.
 * @param attack makes the attack, and returns its longest turn
 * @returns the longest turn of the last round
 */
export async function repeatLongTurns(turnMaxMs: number, attack: () => Promise<number>): Promise<number> {
  let longestTurnMs = Infinity;
  for (let round = 0; round < ROUNDS_MAX && longestTurnMs >= turnMaxMs; round++) longestTurnMs = await attack();
  return longestTurnMs;
}

/** The longest turn of an attack, in milliseconds of CPU time. */
export function longestTurnOf(app: HostileApi, run: () => Promise<unknown>, turnMaxMs = TURN_MAX_MS): Promise<number> {
  return repeatLongTurns(turnMaxMs, async () => (await app.attack(run)).longestTurnMs);
}

/** Checks that an attack, or its repetition, causes only turns below `TURN_MAX_MS`. */
export async function expectShortTurns(app: HostileApi, run: () => Promise<unknown>): Promise<void> {
  expect(await longestTurnOf(app, run)).toBeLessThan(TURN_MAX_MS);
}

/** Checks that an attack causes only turns below `turnMaxMs`, and that the memory of the process hardly grows by it. */
export async function expectCheap(
  app: HostileApi,
  run: () => Promise<unknown>,
  turnMaxMs = TURN_MAX_MS,
): Promise<void> {
  const before = await app.process.ask('report');
  expect(await longestTurnOf(app, run, turnMaxMs)).toBeLessThan(turnMaxMs);
  const { rssBytes } = await app.process.ask('report');
  expect(rssBytes - before.rssBytes).toBeLessThan(RSS_GROWTH_MAX);
}
