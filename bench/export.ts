import pg from 'pg';
import { query, sql } from '../shared/database/sql.ts';
import { quantile, round, type Bench, type BenchContext } from './harness/contract.ts';
import type { BenchStack } from './harness/stack.ts';

/** Reads a file to its end. @returns its rows a second */
async function download(stack: BenchStack, path: string, rows: number): Promise<number> {
  const startedAt = performance.now();
  const headers = { authorization: `Bearer ${stack.project.secretKey}` };
  const { body, status } = await fetch(`${stack.apiUrl}${path}`, { headers });
  if (!body || status !== 200) throw new Error(`the export answered ${status}`);
  let lines = 0;
  for await (const chunk of body) for (const octet of chunk) if (octet === 10) lines += 1;
  if (lines !== rows && lines !== rows + 1) throw new Error(`${rows} rows were stored, and ${lines} came`);
  return rows / ((performance.now() - startedAt) / 1_000);
}

/** What `pg` calls a submittable; its types do not describe one that receives data. */
interface CopyConnection {
  query: (text: string) => void;
}

/** Rows a second of a bare COPY of the same columns, as octets that nobody looks at. */
async function copyOut(stack: BenchStack, rows: number): Promise<number> {
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  const startedAt = performance.now();
  await new Promise<void>((resolve, reject) => {
    const ignore = (): void => undefined;
    const submittable = {
      submit: (connection: CopyConnection) =>
        connection.query(
          'copy (select id, email, subscribed, opted_out_at, data, created_at, updated_at from contact) to stdout (format csv)',
        ),
      handleCopyData: ignore,
      handleError: reject,
      handleReadyForQuery: () => resolve(),
      handleCommandComplete: ignore,
      handleRowDescription: ignore,
      handleEmptyQuery: ignore,
    };
    client.query(submittable as unknown as pg.Submittable);
  });
  const seconds = (performance.now() - startedAt) / 1_000;
  await client.end();
  return rows / seconds;
}

async function run(context: BenchContext) {
  const [rounds, rows] = [context.number('rounds'), context.number('contacts')];
  const stack = await context.startStack({ smtpUrl: 'smtp://127.0.0.1:1' });
  await query(
    stack.em(),
    sql`
      insert into contact (id, project_id, email, subscribed, data, created_at, updated_at)
      select everpost_uuid_v7(), ${stack.project.id}, 'reader' || n || '@example.com', n % 10 <> 0, jsonb_build_object(
        'firstName', 'Reader ' || n, 'city', 'City ' || n % 5000, 'plan', 'plan-' || n % 3, 'points', n % 1000), now(), now()
      from generate_series(1, ${rows}::int) n`,
  );
  await query(stack.em(), sql`vacuum analyze contact`);
  const speeds: Record<'csv' | 'jsonl' | 'copy', number[]> = { csv: [], jsonl: [], copy: [] };
  for (let i = 1; i <= rounds; i++) {
    speeds.copy.push(await copyOut(stack, rows));
    for (const format of ['csv', 'jsonl'] as const) {
      speeds[format].push(await download(stack, `/contacts/export?format=${format}`, rows));
    }
    context.progress(
      `round ${i}: ${round(speeds.csv.at(-1) ?? 0)} rows/s of CSV, ${round(speeds.copy.at(-1) ?? 0)} by COPY`,
    );
  }
  const [figure, limit] = [quantile(speeds.csv, 0.5), quantile(speeds.copy, 0.5)];
  return {
    name: 'export',
    figure: round(figure),
    unit: 'rows/s',
    limit: round(limit),
    ratio: round(figure / limit, 3),
    jsonLinesRowsPerSecond: round(quantile(speeds.jsonl, 0.5)),
    contacts: rows,
  };
}

export const bench: Bench = {
  description:
    'Rows a second of GET /contacts/export with all columns, from the request to the last octet, against COPY.',
  options: { rounds: { type: 'string', default: '3' }, contacts: { type: 'string', default: '300000' } },
  run,
};
