import { readFileSync } from 'node:fs';

/** What the set-up of the test run provides. */
export interface TestEnvironment {
  /** Superuser's URL of the database `postgres`, to create and drop databases with. */
  readonly databaseAdminUrl: string;
  /** A migrated, empty database that nobody is connected to: `CREATE DATABASE … TEMPLATE …`. */
  readonly templateDatabase: string;
  /** host:port of a Temporal server shared by all files; use a task queue and workflow ids of your own. */
  readonly temporalAddress: string;
  /** Program of the Temporal server that skips time, for `TestWorkflowEnvironment.createTimeSkipping`. */
  readonly timeSkippingServerPath: string;
  /** The workflows, bundled once: `Worker.create({ workflowBundle: { codePath } })`. */
  readonly workflowBundlePath: string;
}

/** One part of the environment: its value, or the reason why it is missing. */
export type ProvidedPart = { value: string } | { error: string };

/** The variable that names the file with the parts. */
export const environmentFileVariable = 'EVERPOST_TEST_ENVIRONMENT';

/**
 * Reads what the set-up of this test run provides. Using a part that could not be provided throws the reason;
 * tests that do not need it run all the same.
 */
export function testEnvironment(): TestEnvironment {
  const file = process.env[environmentFileVariable];
  if (!file) throw new Error('This test needs the set-up of jest.config.js: run it with `npm test -- <path>`.');
  const parts = JSON.parse(readFileSync(file, 'utf8')) as Record<keyof TestEnvironment, ProvidedPart>;
  const use = (name: keyof TestEnvironment): string => {
    const part = parts[name];
    if ('error' in part) throw new Error(part.error);
    return part.value;
  };
  return {
    get databaseAdminUrl() {
      return use('databaseAdminUrl');
    },
    get templateDatabase() {
      return use('templateDatabase');
    },
    get temporalAddress() {
      return use('temporalAddress');
    },
    get timeSkippingServerPath() {
      return use('timeSkippingServerPath');
    },
    get workflowBundlePath() {
      return use('workflowBundlePath');
    },
  };
}
