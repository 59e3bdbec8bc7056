import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createOpenApiDocument } from '../api/reference/openapi.ts';
import { createEndpoints } from '../api/routes.ts';
import { testConfig } from './support/config.ts';
import { createDnsServer, type DnsServer } from './support/dns-server.ts';
import { contentTypeOf, judgeOf, type FuzzAnswer } from './support/fuzz/judge.ts';
import type { OpenApiDocument, Operation } from './support/fuzz/json-schema.ts';
import { requestsTo, type FuzzRequest } from './support/fuzz/requests.ts';
import { withIds } from './support/fuzz/values.ts';
import { createFuzzWorld, type FuzzWorld } from './support/fuzz/world.ts';
import { longestTurnOf, startHostileApi, TURN_MAX_MS, type HostileApi } from './support/hostile-api.ts';
import { givenSeed } from './support/seed.ts';

/** The number of all requests; `npm run fuzz -- --runs` sets another. */
const RUNS = Number(process.env['FUZZ_RUNS'] ?? 600);
const REQUEST_LENGTH_SHOWN = 2_000;
const ANSWER_MS_MAX = 1_000;
/** On a busy machine a request may be slow once. */
const SLOW_ANSWERS_MAX = 3;
/**
 * The suite always sends the same requests; `npm run fuzz` sends new ones, and prints the seed that repeats a failure.
 */
const FIRST_SEED = givenSeed() ?? (process.env['FUZZ_RUNS'] === undefined ? 20_261_122 : undefined);

const endpoints = createEndpoints(testConfig());
const document = createOpenApiDocument(endpoints, 'https://everpost.test') as unknown as OpenApiDocument;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => [operation.operationId, path, method, operation] as const),
);
const runsEach = Math.ceil(RUNS / operations.length);

let dns: DnsServer;
let app: HostileApi;
let world: FuzzWorld;
beforeAll(async () => {
  dns = await createDnsServer();
  app = await startHostileApi({ DNS_SERVERS: [dns.address] });
  world = await createFuzzWorld(app.attacker, app.neighbour);
});
afterAll(async () => {
  await app.stop();
  await dns.close();
});

async function send(method: string, { path, query, headers, body }: FuzzRequest): Promise<FuzzAnswer> {
  const { keys } = app.attacker;
  const key = path === '/v1/track' ? keys.publicKey : keys.secretKey;
  const search = query.map(([name, value]) => `${name}=${value}`).join('&');
  const url = withIds(`${app.url}${path}${search === '' ? '' : `?${search}`}`, world.pick);
  const content = body === undefined || method === 'get' ? undefined : withIds(body, world.pick);
  const startedAt = performance.now();
  const response = await fetch(url, {
    method: method.toUpperCase(),
    headers: { authorization: `Bearer ${key}`, ...headers },
    body: content,
    redirect: 'manual',
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, durationMs: performance.now() - startedAt };
}

/** Later requests use the ids of an answer; new keys replace the old ones. */
function learn(operationId: string, path: string, answer: FuzzAnswer): void {
  if (answer.status >= 300 || contentTypeOf(answer) !== 'application/json') return;
  const body = JSON.parse(answer.text);
  world.learn(path, body.data ?? body);
  if (operationId !== 'regenerateProjectKeys') return;
  app.attacker.keys.secretKey = body.secret;
  app.attacker.keys.publicKey = body.public;
}

async function isSlow(request: () => Promise<FuzzAnswer>, first: FuzzAnswer): Promise<boolean> {
  let { durationMs } = first;
  for (let turn = 1; turn < SLOW_ANSWERS_MAX && durationMs > ANSWER_MS_MAX; turn++) ({ durationMs } = await request());
  return durationMs > ANSWER_MS_MAX;
}

async function fuzz(path: string, method: string, operation: Operation, seed: number): Promise<void> {
  const judge = judgeOf(document, operation);
  const property = fc.asyncProperty(requestsTo(document, path, operation), async (request) => {
    const answer = await send(method, request);
    const fault = judge(answer);
    if (fault !== undefined) throw new Error(fault);
    if (await isSlow(() => send(method, request), answer)) throw new Error(`it took ${answer.durationMs} ms`);
    learn(operation.operationId, path, answer);
  });
  // A request cannot be shrunk, because every attempt would find another state of the project.
  const found = await fc.check(property, { numRuns: runsEach, endOnFailure: true, seed });
  if (!found.failed) return;
  const request = JSON.stringify(found.counterexample).slice(0, REQUEST_LENGTH_SHOWN);
  throw new Error(`FC_SEED=${found.seed}, run ${found.numRuns}: ${String(found.errorInstance)}\n${request}`);
}

describe('any request is answered as the OpenAPI document says, quickly and without a 5xx, by', () => {
  it.each(operations)(
    '%s',
    async (_id, path, method, operation) => {
      const seed = FIRST_SEED ?? Math.floor(Math.random() * 2 ** 31);
      const longestTurnMs = await longestTurnOf(app, () => fuzz(path, method, operation, seed));
      expect({ seed, longestTurnMs: Math.min(longestTurnMs, TURN_MAX_MS) }).toEqual({ seed, longestTurnMs });
    },
    60_000 + runsEach * 200,
  );
});
