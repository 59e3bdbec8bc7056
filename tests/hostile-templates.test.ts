import { Agent, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectTooBig } from './support/api.ts';
import { expectShortTurns, startHostileApi, type HostileApi } from './support/hostile-api.ts';

let app: HostileApi;
let workflowId: string;
beforeAll(async () => {
  app = await startHostileApi();
  const { body } = await app.attacker.api('POST', '/workflows', { body: { name: 'W', eventName: 'visited' } });
  workflowId = body.id;
  // The first templates make Node compile code, which must not count as an attack.
  for (let turn = 0; turn < 3; turn++) await app.attacker.api('POST', '/templates', { body: templateWith({}) });
});
afterAll(() => app.stop());

const LENGTH = 1_900_000;
const templateWith = (change: object) => ({ name: 'T', subject: 'S', body: 'B', from: 'a@example.com', ...change });
const campaignWith = (change: object) => ({ ...templateWith(change), audienceType: 'ALL' });
const emailWith = (change: object) => ({ to: 'a@x.test', subject: 'S', body: 'B', from: 'a@example.com', ...change });
const webhookWith = (change: object) => ({
  type: 'WEBHOOK',
  name: 'W',
  config: { url: 'https://example.net/', ...change },
});

/** One tag of about this many characters, most of them in names and texts. */
const TAGS: Record<string, (length: number) => string> = {
  'many names': (length) => `{{${'a??'.repeat(length / 3)}b}}`,
  'many empty places for names': (length) => `{{${'??'.repeat(length / 2)}b}}`,
  'many quotes': (length) => `{{a ?? ${'"??'.repeat(length / 3)}}}`,
  'a block of many names': (length) => `{{#if ${'a??'.repeat(length / 3)}b}}{{/if}}`,
};
const SHORT = 900;
type Tag = (length: number) => string;

const PLACES: [place: string, path: string, body: (tag: Tag) => object, field: string][] = [
  ['a body of /v1/send', '/v1/send', (tag) => emailWith({ body: tag(LENGTH) }), 'body'],
  ['a text part of /v1/send', '/v1/send', (tag) => emailWith({ text: tag(LENGTH) }), 'text'],
  ['a subject of /v1/send', '/v1/send', (tag) => emailWith({ subject: tag(SHORT) }), 'subject'],
  ['a preheader of /v1/send', '/v1/send', (tag) => emailWith({ preheader: tag(480) }), 'preheader'],
  ['a header of /v1/send', '/v1/send', (tag) => emailWith({ headers: { 'X-A': tag(SHORT) } }), 'headers.X-A'],
  ['a body of a template', '/templates', (tag) => templateWith({ body: tag(LENGTH) }), 'body'],
  ['a text part of a template', '/templates', (tag) => templateWith({ text: tag(LENGTH) }), 'text'],
  ['a subject of a template', '/templates', (tag) => templateWith({ subject: tag(SHORT) }), 'subject'],
  ['a body of a campaign', '/campaigns', (tag) => campaignWith({ body: tag(LENGTH) }), 'body'],
  ['a preheader of a campaign', '/campaigns', (tag) => campaignWith({ preheader: tag(480) }), 'preheader'],
  ['a body of a step', 'steps', (tag) => webhookWith({ body: { a: [tag(300_000)] } }), 'config.body.a.0'],
  ['a header of a step', 'steps', (tag) => webhookWith({ headers: { 'X-A': tag(SHORT) } }), 'config.headers.X-A'],
  ['a url of a step', 'steps', (tag) => webhookWith({ url: `https://example.net/${tag(SHORT)}` }), 'config.url'],
];

/** Every place with one tag, and every tag in one place: all places read tags in the same way. */
const CASES = [
  ...PLACES.map((place) => ['many names', ...place] as const),
  ...Object.keys(TAGS)
    .slice(1)
    .map((name) => [name, ...PLACES[0]!] as const),
];

it.each(CASES)('one tag with %s is refused without effort in %s', async (name, _place, path, body, field) => {
  const given = body(TAGS[name]!);
  await expectShortTurns(app, async () => {
    const to = path === 'steps' ? `/workflows/${workflowId}/steps` : path;
    const reply = await app.attacker.api('POST', to, { body: given });
    expectTooBig(reply, field);
  });
});

describe('a body of many megabytes', () => {
  it.each<[string, string, object?]>([
    ['letters', 'x'.repeat(38_000_000)],
    ['tags of HTML', '<p>abc</p>'.repeat(1_600_000)],
    ['tags of HTML, with a preheader', '<p>abc</p>'.repeat(3_800_000), { preheader: 'Hello' }],
    ['placeholders', `{{a ?? "b"}}${'x'.repeat(980)}`.repeat(20_000)],
    ['empty placeholders', '{{ }}'.repeat(3_000_000)],
    ['braces', 'x{} '.repeat(9_000_000)],
    ['marks of other template languages', '<% '.repeat(5_000_000)],
    ['a block that begins in a comment', `<!-- {{#if a}} -->{{/if}}${'<p>abc</p>'.repeat(3_000_000)}`],
    ['letters beyond ASCII', 'ü€'.repeat(3_000_000)],
    ['empty lines', '\n'.repeat(8_000_000)],
  ])('of %s does not delay others, in a process with a small heap', async (_name, body, change = {}) => {
    await expectShortTurns(app, async () => {
      const reply = await app.attacker.api('POST', '/v1/send', { body: emailWith({ body, ...change }) });
      expect(reply.status).toBe(200);
    });
  });
});

describe('a template of the largest allowed size', () => {
  it.each([
    ['tags', '{{a ?? "b"}}'.repeat(20_000)],
    ['long tags', `{{${'a'.repeat(45)}.${'b'.repeat(45)}}}`.repeat(20_000)],
    ['blocks', '{{#if a}}x{{/if}}'.repeat(10_000)],
    ['quotes', `it's "${"'".repeat(1_700_000)}\\`],
  ])('of %s does not delay others', async (_name, text) => {
    await expectShortTurns(app, async () => {
      const { status, body } = await app.attacker.api('POST', '/templates', {
        body: templateWith({ body: text, text }),
      });
      expect(status).toBe(201);
      expect((await app.attacker.api('POST', `/templates/${body.id}/duplicate`)).status).toBe(201);
      expect((await app.attacker.api('POST', '/v1/send', { body: emailWith({ body: text, text }) })).status).toBe(200);
    });
  });
});

const BODY_BYTES = 38_000_000;
/** Their bodies together are larger than the heap of the process. */
const CONNECTIONS = 10;

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

it('connections that stay open keep nothing of the bodies that came over them', async () => {
  const body = JSON.stringify({ to: 'nobody', subject: 'S', from: 'a@example.com', body: 'x'.repeat(BODY_BYTES) });
  const agents = Array.from({ length: CONNECTIONS }, () => new Agent({ keepAlive: true }));
  await app.attack(async () => {
    for (const agent of agents) expect(await post(agent, body)).toBe(422);
  });
  expect(agents.map((agent) => Object.values(agent.freeSockets).flat().length)).toEqual(agents.map(() => 1));
  for (const agent of agents) agent.destroy();
});
