import { Agent, request } from 'node:http';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startHostileApi, type HostileApi } from './support/hostile-api.ts';

const BODY_BYTES = 38_000_000;
/** Their bodies together are larger than the heap of the process. */
const CONNECTIONS = 10;

let app: HostileApi;
beforeAll(async () => {
  app = await startHostileApi();
});
afterAll(() => app.stop());

/** Sends a request over the connection of an agent. @returns the status */
function post(agent: Agent, body: string): Promise<number | undefined> {
  const headers = {
    authorization: `Bearer ${app.attacker.keys.secretKey}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  return new Promise((resolve, reject) => {
    const sent = request(`${app.url}/v1/send`, { agent, method: 'POST', headers }, (reply) => {
      reply.resume().once('end', () => resolve(reply.statusCode));
    });
    sent.once('error', reject).end(body);
  });
}

it('Connections that stay open keep nothing of the bodies that came over them', async () => {
  const body = JSON.stringify({ to: 'nobody', subject: 'S', from: 'a@example.com', body: 'x'.repeat(BODY_BYTES) });
  const agents = Array.from({ length: CONNECTIONS }, () => new Agent({ keepAlive: true }));
  await app.attack(async () => {
    for (const agent of agents) expect(await post(agent, body)).toBe(422);
  });
  expect(agents.map((agent) => Object.values(agent.freeSockets).flat().length)).toEqual(agents.map(() => 1));
  for (const agent of agents) agent.destroy();
});
