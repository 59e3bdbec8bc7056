import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { NativeConnection } from '@temporalio/worker';
import { setUpTemporal } from '../../cli/temporal/setup.ts';
import { createTemporalClient, type TemporalConnectOptions } from '../../shared/durable/temporal/client.ts';
import { testEnvironment } from './environment.ts';
import { quietTemporal } from './quiet-temporal.ts';

export interface TestNamespace extends TemporalConnectOptions {
  client: Client;
  connection: NativeConnection;
  close: () => Promise<void>;
}

/**
 * A Temporal namespace for one test file. Task queues have fixed names, so in one namespace files would take each
 * other's tasks. `address` names another server than the shared one.
 */
export async function createTestNamespace(
  address = testEnvironment().temporalAddress,
  dataConverter?: DataConverter,
): Promise<TestNamespace> {
  // Called here and not at import: the runtime keeps the process alive until its last connection ends.
  quietTemporal();
  const options: TemporalConnectOptions = {
    connectionOptions: { address },
    namespace: `test-${randomUUID()}`,
    dataConverter,
  };
  await setUpTemporal(options, []);
  const client = createTemporalClient(options);
  const connection = await NativeConnection.connect(options.connectionOptions);
  return {
    ...options,
    client,
    connection,
    async close() {
      await client.connection.close();
      await connection.close();
    },
  };
}
