import { Client, Connection } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { CodecKey } from '../platform/codec-keys.ts';
import { dataConverterOf } from '../platform/temporal-codec.ts';

export interface TemporalConnectOptions {
  /** Fits a Connection and a NativeConnection alike. */
  connectionOptions: ReturnType<typeof loadClientConnectConfig>['connectionOptions'];
  namespace: string;
  /** Set when the payload codec is on. */
  dataConverter?: DataConverter | undefined;
}

/**
 * Temporal's address, namespace and credentials from `TEMPORAL_*`, read as Temporal's own tools read them.
 * @param codecKeys TEMPORAL_CODEC_KEYS
 */
export function readTemporalOptions(codecKeys: readonly CodecKey[]): TemporalConnectOptions {
  const { connectionOptions, namespace } = loadClientConnectConfig();
  return { connectionOptions, namespace: namespace ?? 'default', dataConverter: dataConverterOf(codecKeys) };
}

/** What clients and workers are made with, beside their connection. */
export function clientOptions({ namespace, dataConverter }: TemporalConnectOptions) {
  return { namespace, ...(dataConverter && { dataConverter }) };
}

/** A client that connects on first use, so that a process can start, and serve, while Temporal is down. */
export function createTemporalClient(options: TemporalConnectOptions): Client {
  return new Client({ connection: Connection.lazy(options.connectionOptions), ...clientOptions(options) });
}

/** Rejects when Temporal does not answer within `timeoutMs`. */
export async function checkTemporal(client: Client, timeoutMs = 2_000): Promise<void> {
  await client.connection.withDeadline(Date.now() + timeoutMs, () =>
    client.workflowService.describeNamespace({ namespace: client.options.namespace }),
  );
}
