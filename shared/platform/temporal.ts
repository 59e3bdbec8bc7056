import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';

export interface TemporalConnectOptions {
  /** Fits a Connection and a NativeConnection alike. */
  connectionOptions: ReturnType<typeof loadClientConnectConfig>['connectionOptions'];
  namespace: string;
}

/** Temporal's address, namespace and credentials from `TEMPORAL_*`, read as Temporal's own tools read them. */
export function readTemporalOptions(): TemporalConnectOptions {
  const { connectionOptions, namespace } = loadClientConnectConfig();
  return { connectionOptions, namespace: namespace ?? 'default' };
}

/** A client that connects on first use, so that a process can start, and serve, while Temporal is down. */
export function createTemporalClient(options: TemporalConnectOptions): Client {
  return new Client({ connection: Connection.lazy(options.connectionOptions), namespace: options.namespace });
}

/** Rejects when Temporal does not answer within `timeoutMs`. */
export async function checkTemporal(client: Client, timeoutMs = 2_000): Promise<void> {
  await client.connection.withDeadline(Date.now() + timeoutMs, () =>
    client.workflowService.describeNamespace({ namespace: client.options.namespace }),
  );
}
