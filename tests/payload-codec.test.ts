import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import { parseCodecKeys } from '../shared/platform/codec-keys.ts';
import { testEnvironment } from './support/environment.ts';
import { campaignWorkflowId, executionWorkflowId } from '../shared/pure/workflow-contracts.ts';
import { createAutomation } from './support/automations.ts';
import { runCommand } from './support/cli.ts';
import { startEverpostProcess } from './support/everpost-process.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

const KEYS = `k1:${Buffer.alloc(32, 7).toString('base64')}`;
const WRONG_KEYS = `k1:${Buffer.alloc(32, 8).toString('base64')}`;
const TOKEN = 'a token of the payload codec, long enough';
const UI = 'https://temporal.example.test';

let stack: TestStack;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'everpost-codec-'));
  stack = await startTestStack({
    config: { TEMPORAL_CODEC_KEYS: parseCodecKeys(KEYS), TEMPORAL_CODEC_TOKEN: TOKEN, TEMPORAL_UI_ORIGIN: [UI] },
  });
  await stack.api('POST', '/contacts', { body: { email: 'ada@example.com', data: { plan: 'secret plan' } } });
});
afterAll(async () => {
  await stack.stop();
  await rm(folder, { recursive: true });
});

/** Everything that Temporal stores about a workflow. */
async function storedHistory(workflowId: string) {
  const history = await stack.temporal.client.workflow.getHandle(workflowId).fetchHistory();
  return { history, json: historyToJSON(history) };
}

interface StoredPayload {
  metadata: Record<string, string>;
  data: string;
}

/**
 * All payloads of a history in JSON, except search attributes, which Temporal has to read, and the markers of local
 * activities (`data`) and patches (`patch-data`), which hold type, number and times, or the name of the patch.
 */
function payloadsIn(value: unknown, name = ''): StoredPayload[] {
  if (typeof value !== 'object' || value === null || ['searchAttributes', 'data', 'patch-data'].includes(name))
    return [];
  if ('metadata' in value && 'data' in value) return [value as StoredPayload];
  return Object.entries(value).flatMap(([key, inner]) => payloadsIn(inner, key));
}
const encodingsIn = (json: string) => [
  ...new Set(
    payloadsIn(JSON.parse(json)).map(({ metadata }) => Buffer.from(metadata['encoding']!, 'base64').toString()),
  ),
];

async function beginCampaign(name: string): Promise<string> {
  const { body } = await stack.api('POST', '/campaigns', {
    body: {
      name,
      subject: 'S',
      body: '<p>B</p>',
      from: 'news@example.com',
      audienceType: 'ALL',
      type: 'TRANSACTIONAL',
    },
  });
  await stack.api('POST', `/campaigns/${body.data.id}/send`, { body: {} });
  return body.data.id as string;
}

async function sendCampaign(name: string): Promise<string> {
  const id = await beginCampaign(name);
  await eventually(async () => (await stack.api('GET', `/campaigns/${id}`)).body.status === 'SENT');
  return id;
}

/** An execution that fails, because its webhook may not call this machine. */
async function failExecution(): Promise<string> {
  const automationId = await createAutomation(stack, 'signed up', {
    'Tell nobody': { type: 'WEBHOOK', config: { url: 'http://127.0.0.1:1/hook' } },
  });
  await stack.api('POST', '/v1/track', { key: 'public', body: { email: 'ada@example.com', event: 'signed up' } });
  return eventually(async () => {
    const { body } = await stack.api('GET', `/workflows/${automationId}/executions?status=FAILED`);
    return body.data[0]?.id as string | undefined;
  });
}

const everpost = (args: string[], keys: string) =>
  runCommand(args, {
    TEMPORAL_CODEC_KEYS: keys,
    TEMPORAL_NAMESPACE: stack.temporal.namespace,
    TEMPORAL_ADDRESS: testEnvironment().temporalAddress,
  });

describe('with the payload codec', () => {
  it('campaigns run, and nothing that Temporal stores about them is readable', async () => {
    const campaignId = await sendCampaign('Autumn collection');
    const { json, history } = await storedHistory(campaignWorkflowId(campaignId));
    expect(payloadsIn(JSON.parse(json)).length).toBeGreaterThan(5);
    expect(encodingsIn(json)).toEqual(['binary/encrypted']);
    expect(Buffer.from(json).toString()).not.toContain('Autumn');
    const { dataConverter } = stack.temporal;
    const workflowBundle = { codePath: testEnvironment().workflowBundlePath };
    await Worker.runReplayHistory({ workflowBundle, dataConverter }, history, campaignWorkflowId(campaignId));
    await expect(
      Worker.runReplayHistory({ workflowBundle }, history, campaignWorkflowId(campaignId)),
    ).rejects.toThrow();
  });

  it('failures are not readable in Temporal, but everpost execution history shows them', async () => {
    const executionId = await failExecution();
    // The row is FAILED a moment before the workflow fails.
    const json = await eventually(async () => {
      const stored = await storedHistory(executionWorkflowId(executionId));
      return stored.json.includes('WORKFLOW_EXECUTION_FAILED') && stored.json;
    });
    expect(encodingsIn(json)).toEqual(['binary/encrypted']);
    expect(json).not.toContain('Tell nobody');
    expect(json).not.toContain('127.0.0.1');
    expect(json).toContain('Encoded failure');

    const file = path.join(folder, 'execution.json');
    expect(await everpost(['execution', 'history', executionId, '--out', file], KEYS)).toMatchObject({ exitCode: 0 });
    const stored = JSON.parse(await readFile(file, 'utf8')) as { workflowId: string; history: unknown };
    expect(encodingsIn(JSON.stringify(stored))).toContain('json/plain');
    expect(encodingsIn(JSON.stringify(stored))).not.toContain('binary/encrypted');
    expect(JSON.stringify(stored)).toContain('Tell nobody');
    expect(JSON.stringify(stored)).not.toContain('Encoded failure');
    expect(JSON.stringify(stored)).not.toMatch(/"stackTrace":"[^"]/);
    const workflowBundle = { codePath: testEnvironment().workflowBundlePath };
    await Worker.runReplayHistory({ workflowBundle }, historyFromJSON(stored.history), stored.workflowId);

    const refused = await everpost(['execution', 'history', executionId, '--out', file], WRONG_KEYS);
    expect(refused).toMatchObject({
      exitCode: 1,
      error: expect.stringContaining('the key "k1" of TEMPORAL_CODEC_KEYS is not'),
    });
    const other = await everpost(['execution', 'history', executionId, '--out', file], KEYS.replace('k1', 'k2'));
    expect(other.error).toContain('encrypted with the key "k1", which TEMPORAL_CODEC_KEYS does not name');
  });

  it('a worker with another key ends no workflow, and work continues with the right key', async () => {
    await stack.stopWorkers();
    const id = await beginCampaign('Spring collection');
    const wrong = startEverpostProcess('worker', stack.config, stack.temporal, { TEMPORAL_CODEC_KEYS: WRONG_KEYS });
    try {
      await eventually(async () => (await storedHistory(campaignWorkflowId(id))).json.includes('WORKFLOW_TASK_FAILED'));
    } finally {
      await wrong.kill();
    }
    await stack.startWorkers();
    await eventually(async () => (await stack.api('GET', `/campaigns/${id}`)).body.status === 'SENT');
  });

  it('the API decodes payloads for the Temporal UI', async () => {
    const campaignId = await sendCampaign('Winter collection');
    const { json } = await storedHistory(campaignWorkflowId(campaignId));
    const payloads = payloadsIn(JSON.parse(json)).slice(0, 50);
    const reply = await fetch(`${stack.url}/codec/decode`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/json',
        origin: UI,
        'x-namespace': 'default',
      },
      body: JSON.stringify({ payloads }),
    });
    expect([reply.status, reply.headers.get('access-control-allow-origin')]).toEqual([200, UI]);
    const decoded = ((await reply.json()) as { payloads: StoredPayload[] }).payloads;
    expect(decoded.map(({ data }) => Buffer.from(data, 'base64').toString()).join()).toContain(campaignId);
  });
});
