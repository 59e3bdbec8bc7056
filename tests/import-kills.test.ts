import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import { runCommand } from './support/cli.ts';
import { testEnvironment } from './support/environment.ts';
import { eventually } from './support/eventually.ts';
import { startEverpostProcess, type EverpostProcess } from './support/everpost-process.ts';
import { PATIENCE_MS } from './support/kills/load.ts';
import { query } from './support/rows.ts';
import { startCommand } from './support/run-node.ts';
import { startTestStack, type TestStack } from './support/stack.ts';

/** Three parts. Every tenth row repeats the address before it, every hundredth has none. */
const ROWS = 50_000;

let stack: TestStack;
let worker: EverpostProcess;
let folder: string;

function startWorker(): void {
  const environment = { WORKFLOW_BUNDLE: testEnvironment().workflowBundlePath };
  worker = startEverpostProcess('worker', stack.config, stack.temporal, environment);
}

beforeAll(async () => {
  stack = await startTestStack({ hasWorkers: false });
  folder = await mkdtemp(path.join(tmpdir(), 'import-kills-'));
  startWorker();
}, PATIENCE_MS);
afterAll(async () => {
  await worker.kill();
  await stack.stop();
  await rm(folder, { recursive: true });
});

it(
  'a large import survives the end of its command and of the worker, and counts each row once',
  async () => {
    const { project } = await stack.createProject();
    const addressOf = (row: number): string =>
      row % 100 === 0 ? 'nobody' : `c${row % 10 === 5 ? row - 1 : row}@x.test`;
    const lines = Array.from({ length: ROWS }, (_, row) => `${addressOf(row)},${row}`);
    const file = path.join(folder, 'many.csv');
    await writeFile(file, `email,row\n${lines.join('\n')}\n`);
    const args = ['import', 'contacts', file, '--project', project.id, '--json'];
    const environment = { DATABASE_URL: stack.database.url };
    const position = async (): Promise<number> => {
      const [row] = await query(
        stack.em(),
        sql`select coalesce(sum(position), 0)::int as n from job where project_id = ${project.id}`,
      );
      return row?.n;
    };

    const command = startCommand(args, environment);
    await eventually(async () => (await position()) > 0, PATIENCE_MS);
    command.kill();
    await command.ended;
    const atEnd = await query(stack.em(), sql`select state from job where project_id = ${project.id}`);
    expect(atEnd.length).toBeGreaterThan(0);
    expect(atEnd.length).toBeLessThan(3);
    // What was stored is imported without the command.
    await eventually(async () => {
      const states = await query(stack.em(), sql`select state from job where project_id = ${project.id}`);
      return states.every(({ state }) => state === 'completed');
    }, PATIENCE_MS);

    const reached = await position();
    const again = runCommand(args, environment);
    await eventually(async () => (await position()) > reached, PATIENCE_MS);
    await worker.kill();
    startWorker();
    const { exitCode, out } = await again;
    expect(exitCode).toBe(0);
    const valid = lines.map((line) => line.split(',')[0]).filter((email) => email !== 'nobody');
    const addresses = new Set(valid);
    expect(JSON.parse(out)).toMatchObject({
      ...{
        rows: ROWS,
        createdCount: addresses.size,
        updatedCount: valid.length - addresses.size,
        failureCount: ROWS / 100,
      },
    });
    const counts = await query(
      stack.em(),
      sql`
      select count(*)::int as contacts, count(distinct email)::int as addresses,
        (select count(*)::int from job where project_id = ${project.id}) as jobs,
        (select count(*)::int from event where project_id = ${project.id}) as events
      from contact where project_id = ${project.id}`,
    );
    expect(counts).toEqual([{ contacts: addresses.size, addresses: addresses.size, jobs: 3, events: 0 }]);
  },
  3 * PATIENCE_MS,
);
