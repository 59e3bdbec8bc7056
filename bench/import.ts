import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { v7 as uuidV7 } from 'uuid';
import { queryOne, sql } from '../shared/database/sql.ts';
import { number } from '../shared/database/tables.ts';
import { quantile, round, type Bench, type BenchContext } from './harness/contract.ts';
import type { BenchStack } from './harness/stack.ts';

const FILE_BYTES = 5 * 1024 * 1024;
const POLL_MS = 20;
const TIMEOUT_MS = 120_000;
const HEADER = 'email,firstName,city,plan,points,subscribed\n';

interface CsvFile {
  content: string;
  rows: number;
}

/** A file of the largest size that an import accepts. Each round has addresses of its own. */
function csvFile(round: number): CsvFile {
  const lines: string[] = [];
  let bytes = HEADER.length;
  for (let i = 0; ; i++) {
    const line = `reader${i}.${round}@example.com,Reader ${i},City ${i % 5000},plan-${i % 3},${i % 1000},${i % 10 !== 0}\n`;
    if (bytes + line.length > FILE_BYTES) break;
    bytes += line.length;
    lines.push(line);
  }
  return { content: HEADER + lines.join(''), rows: lines.length };
}

interface PolledJob {
  state: string;
  failedReason: string | null;
  result: { createdCount: number; updatedCount: number } | null;
}

/** From the request until the job says that it is done, in seconds. */
async function importFile(
  stack: BenchStack,
  file: CsvFile,
  expected: 'createdCount' | 'updatedCount',
): Promise<number> {
  const form = new FormData();
  form.append('file', new Blob([file.content]), 'contacts.csv');
  const startedAt = performance.now();
  const response = await fetch(`${stack.apiUrl}/contacts/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.project.secretKey}` },
    body: form,
  });
  if (response.status !== 202) throw new Error(`the import answered ${response.status}: ${await response.text()}`);
  const { jobId } = (await response.json()) as { jobId: string };
  for (;;) {
    const job = (await stack.call('GET', `/contacts/import/${jobId}`)) as PolledJob;
    const seconds = (performance.now() - startedAt) / 1_000;
    if (job.state === 'completed') {
      if (job.result?.[expected] !== file.rows)
        throw new Error(`${file.rows} rows were sent: ${JSON.stringify(job.result)}`);
      return seconds;
    }
    if (job.state === 'failed' || seconds * 1_000 > TIMEOUT_MS)
      throw new Error(`the import ended: ${JSON.stringify(job)}`);
    await delay(POLL_MS);
  }
}

/** What `pg` calls a submittable; its types do not describe one that sends data. */
interface CopyConnection {
  query: (text: string) => void;
  sendCopyFromChunk: (chunk: Buffer) => void;
  endCopyFrom: () => void;
}

function copy(client: pg.Client, statement: string, content: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const ignore = (): void => undefined;
    const submittable = {
      submit: (connection: CopyConnection) => connection.query(statement),
      handleCopyInResponse(connection: CopyConnection) {
        connection.sendCopyFromChunk(content);
        connection.endCopyFrom();
      },
      handleError: reject,
      handleReadyForQuery: () => resolve(),
      handleCommandComplete: ignore,
      handleRowDescription: ignore,
      handleEmptyQuery: ignore,
    };
    client.query(submittable as unknown as pg.Submittable);
  });
}

/** The rows of a file as those of `contact`, ready to be stored as they are. */
function readyRows(stack: BenchStack, file: CsvFile): string {
  const at = new Date().toISOString();
  const lines = file.content.trimEnd().split('\n').slice(1);
  return lines
    .map((line) => {
      const [email, firstName, city, plan, points, subscribed] = line.split(',');
      const data = JSON.stringify({ firstName, city, plan, points: Number(points) }).replaceAll('"', '""');
      return `${uuidV7()},${stack.project.id},${email},${subscribed},"${data}",${at},${at}\n`;
    })
    .join('');
}

interface CopySpeeds {
  /** Rows a second into a table of text columns without an index. */
  bare: number;
  /** Rows a second, ready-made, into a table with the columns and indexes of `contact`. */
  indexed: number;
}

async function measureCopy(stack: BenchStack, file: CsvFile, rounds: number): Promise<CopySpeeds> {
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  async function rowsPerSecond(table: string, columns: string, options: string, content: string): Promise<number> {
    const times: number[] = [];
    for (let i = 0; i <= rounds; i++) {
      await client.query(`truncate ${table}`);
      const startedAt = performance.now();
      await copy(client, `copy ${table} (${columns}) from stdin (${options})`, Buffer.from(content));
      if (i > 0) times.push((performance.now() - startedAt) / 1_000);
    }
    const { rows } = await client.query<{ count: string }>(`select count(*) from ${table}`);
    if (Number(rows[0]?.count) !== file.rows) throw new Error('COPY did not take all rows');
    return file.rows / quantile(times, 0.5);
  }
  try {
    await client.query(
      'create table bare (email text, first_name text, city text, plan text, points int, subscribed boolean)',
    );
    await client.query('create table indexed (like contact including all)');
    return {
      bare: await rowsPerSecond(
        'bare',
        'email, first_name, city, plan, points, subscribed',
        'format csv, header true',
        file.content,
      ),
      indexed: await rowsPerSecond(
        'indexed',
        'id, project_id, email, subscribed, data, created_at, updated_at',
        'format csv',
        readyRows(stack, file),
      ),
    };
  } finally {
    await client.end();
  }
}

async function run(context: BenchContext) {
  const rounds = context.number('rounds');
  const stack = await context.startStack({ smtpUrl: 'smtp://127.0.0.1:1' });
  await importFile(stack, csvFile(0), 'createdCount');
  const created: number[] = [];
  const updated: number[] = [];
  let rows = 0;
  for (let i = 1; i <= rounds; i++) {
    const file = csvFile(i);
    rows = file.rows;
    created.push(rows / (await importFile(stack, file, 'createdCount')));
    updated.push(rows / (await importFile(stack, file, 'updatedCount')));
    context.progress(`round ${i}: ${round(created.at(-1) ?? 0)} rows/s created, ${round(updated.at(-1) ?? 0)} updated`);
  }
  const limit = await measureCopy(stack, csvFile(1), rounds);
  const stored = await queryOne(stack.em(), sql`select count(*) from contact`, { count: number });
  const figure = quantile(created, 0.5);
  return {
    name: 'import',
    figure: round(figure),
    unit: 'rows/s',
    limit: round(limit.indexed),
    ratio: round(figure / limit.indexed, 3),
    bareCopyRowsPerSecond: round(limit.bare),
    rowsPerFile: rows,
    updatedRowsPerSecond: round(quantile(updated, 0.5)),
    contactsStored: stored?.count,
  };
}

export const bench: Bench = {
  description:
    'Rows a second of a 5 MB CSV file, from the request to the finished job, against COPY into the same indexes.',
  options: { rounds: { type: 'string', default: '3' } },
  run,
};
