import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import { createApiProcess, type ApiProcess } from './support/api-process.ts';
import { eventually } from './support/eventually.ts';
import { LOOP_WATCH } from './support/everpost-process.ts';
import { query } from './support/rows.ts';
import { startTestStack, type TestStack } from './support/stack.ts';

const PATIENCE_MS = 240_000;
const MEGABYTE = 1_048_576;
const EVENTS = 20_000;
const FEW = 5_000;
/** Of data, so that all events are ten times what the process may take for them. */
const EVENT_BYTES = 7_500;

let stack: TestStack;
let api: ApiProcess;
let few: string;
let many: string;
beforeAll(async () => {
  stack = await startTestStack({ hasWorkers: false });
  [few, many] = [await contactWithEvents(FEW), await contactWithEvents(EVENTS)];
  // With a large heap, V8 collects no garbage for long. Near the limit of its heap, it does little else.
  const heap = '--max-old-space-size=256';
  api = await createApiProcess(stack.config, stack.temporal, ['--import', LOOP_WATCH, heap]);
  api.start();
  await eventually(async () => (await fetch(`${api.url}/health`)).ok, PATIENCE_MS);
}, PATIENCE_MS);
afterAll(async () => {
  await api.kill();
  await stack.stop();
});

async function contactWithEvents(events: number): Promise<string> {
  const { id } = (await stack.api('POST', '/contacts', { body: { email: `c${events}@x.test` } })).body;
  await query(
    stack.em(),
    sql`
      insert into event (id, project_id, contact_id, name, data, created_at)
      select everpost_uuid_v7(), ${stack.project.id}, ${id}, 'seen.' || n % 3, jsonb_build_object('n', n, 'text', repeat('x', ${EVENT_BYTES})),
        now() - make_interval(secs => n / 7)
      from generate_series(1, ${events}::int) n`,
  );
  return id;
}

/** Reads the export of a contact. @returns its size and events, and the most memory that the process had meanwhile */
async function exportOf(contactId: string) {
  const headers = { authorization: `Bearer ${stack.keys.secretKey}` };
  const reply = await eventually(async () => {
    const answer = await fetch(`${api.url}/contacts/${contactId}/export`, { headers });
    if (answer.status === 200) return answer;
    throw new Error(await answer.text());
  });
  let [bytes, peak, asked, tail] = [0, 0, 0, ''];
  const seen = new Set<number>();
  const decoder = new TextDecoder();
  for await (const piece of reply.body as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    const text = tail + decoder.decode(piece, { stream: true });
    for (const [, n] of text.matchAll(/"n":(\d+),/g)) seen.add(Number(n));
    tail = text.slice(-20);
    if (bytes < asked) continue;
    asked = bytes + 5 * MEGABYTE;
    peak = Math.max(peak, (await api.ask('report')).rssBytes);
  }
  expect(tail.endsWith('"executions":[]}')).toBe(true);
  return { bytes, peak, events: seen.size };
}

it(
  'exports a contact with many large events in the memory of one with a quarter of them',
  async () => {
    const small = await exportOf(few);
    const large = await exportOf(many);
    expect([small.events, large.events]).toEqual([FEW, EVENTS]);
    expect(large.bytes).toBeGreaterThan(EVENTS * EVENT_BYTES);
    expect((large.peak - small.peak) / MEGABYTE).toBeLessThan(100);
  },
  PATIENCE_MS,
);
