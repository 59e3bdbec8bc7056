import { describe, expect, it } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { testEnvironment } from '../../../tests/support/environment.ts';
import { eventually } from '../../../tests/support/eventually.ts';
import { startTcpProxy } from '../../../tests/support/tcp-proxy.ts';
import { checkTemporal, createTemporalClient, readTemporalOptions } from './client.ts';

/** `TRANSIENT_FAILURE` of gRPC: the server has refused, and calls fail at once. */
const REFUSED = 3;

/** The state of the channel, which is a private field of the SDK. */
function stateOf(client: Client): number {
  const { client: grpc } = client.connection as unknown as {
    client: { getChannel: () => { getConnectivityState: (isConnecting: boolean) => number } };
  };
  return grpc.getChannel().getConnectivityState(true);
}

describe('a client whose connection is closed while calls are between two attempts', () => {
  it('ends them with an error, and none is attempted again', async () => {
    const proxy = await startTcpProxy(`tcp://${testEnvironment().temporalAddress}`);
    const client = createTemporalClient({
      connectionOptions: { address: new URL(proxy.url).host },
      namespace: 'default',
    });
    await checkTemporal(client, 10_000);
    await proxy.cut();
    await eventually(async () => stateOf(client) === REFUSED);
    const calls = Array.from({ length: 10 }, () => client.workflowService.describeNamespace({ namespace: 'default' }));
    const ended = Promise.allSettled(calls);
    // The first attempt of each fails at once.
    await new Promise((resolve) => setImmediate(resolve));
    await client.connection.close();
    for (const call of await ended) {
      expect(call.status === 'rejected' && call.reason).toMatchObject({ details: 'the connection is closed' });
    }
    await expect(client.workflowService.describeNamespace({ namespace: 'default' })).rejects.toThrow(/is closed/);
  });
});

describe('readTemporalOptions', () => {
  it('takes an empty variable as not set, so that an API key still switches TLS on', () => {
    const read = (environment: Record<string, string>) => readTemporalOptions([], environment).connectionOptions;
    const { tls } = read({ TEMPORAL_API_KEY: 'key' });
    expect(tls).toBeTruthy();
    expect(read({ TEMPORAL_API_KEY: 'key', TEMPORAL_TLS: '' }).tls).toEqual(tls);
    expect(read({ TEMPORAL_API_KEY: '' }).apiKey).toBeUndefined();
  });
});
