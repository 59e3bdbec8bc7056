import {
  Client,
  Connection,
  defaultGrpcRetryOptions,
  isGrpcServiceError,
  makeGrpcRetryInterceptor,
  type ConnectionLike,
  type ConnectionOptions,
} from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { CodecKey } from '../../platform/codec-keys.ts';
import { ConfigError } from '../../platform/config.ts';
import type { Logger } from '../../platform/logger.ts';
import { dataConverterOf } from '../../platform/temporal-codec.ts';
import { clientTracing } from '../../platform/tracing/temporal.ts';
import { waitUntilThere } from '../../platform/wait.ts';

export interface TemporalConnectOptions {
  /** Options for both a Connection and a NativeConnection. */
  connectionOptions: ReturnType<typeof loadClientConnectConfig>['connectionOptions'];
  namespace: string;
  /** Set when the payload codec is on. */
  dataConverter?: DataConverter | undefined;
}

/** Status codes of gRPC. */
export const GRPC = {
  cancelled: 1,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  failedPrecondition: 9,
  unimplemented: 12,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** The error of gRPC behind an error of the SDK, which says only what was tried ("Failed to describe schedule"). */
export function grpcErrorOf(error: unknown): unknown {
  return !isGrpcServiceError(error) && error instanceof Error && isGrpcServiceError(error.cause) ? error.cause : error;
}

/** Whether gRPC ended a call with one of these codes. */
export function hasStatus(error: unknown, ...codes: number[]): boolean {
  return isGrpcServiceError(error) && codes.includes(error.code);
}

/**
 * Temporal's address, namespace and credentials from `TEMPORAL_*`, read as Temporal's own tools read them.
 * @param codecKeys TEMPORAL_CODEC_KEYS
 */
export function readTemporalOptions(
  codecKeys: readonly CodecKey[],
  environment: NodeJS.ProcessEnv = process.env,
): TemporalConnectOptions {
  // An empty variable counts as not set, as everywhere: an empty TEMPORAL_TLS would switch the TLS of an API key off.
  const overrideEnvVars: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) if (value) overrideEnvVars[name] = value;
  const { connectionOptions, namespace } = loadClientConnectConfig({ overrideEnvVars });
  return { connectionOptions, namespace: namespace ?? 'default', dataConverter: dataConverterOf(codecKeys) };
}

/** The options of clients and workers, apart from their connection. */
export function clientOptions({ namespace, dataConverter }: TemporalConnectOptions) {
  return { namespace, ...(dataConverter && { dataConverter }) };
}

type GrpcInterceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type GrpcCall = ReturnType<GrpcInterceptor>;

/** The callbacks through which gRPC reports the end of a call. */
interface GrpcListener {
  onReceiveMessage?: (message: null) => void;
  onReceiveStatus?: (status: { code: number; details: string; metadata: unknown }) => void;
}

/** A call that begins after the close. It fails like a cancelled call, and does not use the channel. */
function refusedCall(): GrpcCall {
  const nothing = (): void => undefined;
  const call = {
    start(metadata: unknown, listener: GrpcListener) {
      process.nextTick(() => {
        listener.onReceiveMessage?.(null);
        listener.onReceiveStatus?.({ code: GRPC.cancelled, details: 'the connection is closed', metadata });
      });
    },
    cancelWithStatus: nothing,
    sendMessage: nothing,
    sendMessageWithContext: nothing,
    halfClose: nothing,
    startRead: nothing,
    getPeer: () => '',
    getAuthContext: () => null,
  };
  // The chain of interceptors calls only these methods.
  return call as unknown as GrpcCall;
}

/**
 * A connection whose calls all end. The SDK repeats a failed call after a pause. If the connection is closed during the
 * pause, the SDK throws in a timer, where the error cannot be caught, and the caller waits forever. Here the repeated
 * call fails instead.
 */
export function createConnection(options: ConnectionOptions): Connection {
  let isClosed = false;
  const refuseOnceClosed: GrpcInterceptor = (call, nextCall) =>
    isClosed ? refusedCall() : (nextCall(call) as unknown as GrpcCall);
  const connection = Connection.lazy({
    ...options,
    interceptors: [makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), refuseOnceClosed],
  });
  const close = connection.close.bind(connection);
  connection.close = async () => {
    isClosed = true;
    await close();
  };
  return connection;
}

/**
 * A client that connects on first use, so that a process can start, and serve, while Temporal is down.
 * @param connection a connection that is shared with the workers of this process; by default the client has its own
 */
export function createTemporalClient(
  options: TemporalConnectOptions,
  connection: ConnectionLike = createConnection(options.connectionOptions),
): Client {
  return new Client({
    connection,
    ...clientOptions(options),
    interceptors: { workflow: [clientTracing] },
  });
}

/**
 * Finds the id of the namespace, which Temporal never gives to another one.
 * @throws the error of gRPC when Temporal does not answer within `timeoutMs`, or does not know the namespace
 */
export async function findNamespaceId(client: Client, timeoutMs = 2_000): Promise<string> {
  const { namespace } = client.options;
  const { namespaceInfo } = await client.connection.withDeadline(Date.now() + timeoutMs, () =>
    client.workflowService.describeNamespace({ namespace }),
  );
  return namespaceInfo?.id || namespace;
}

/** Rejects when Temporal does not answer within `timeoutMs`. */
export async function checkTemporal(client: Client, timeoutMs?: number): Promise<void> {
  await findNamespaceId(client, timeoutMs);
}

/** The address of Temporal, for people. */
export function addressOf({ connectionOptions }: { connectionOptions: { address?: string } }): string {
  return connectionOptions.address ?? 'localhost:7233';
}

/** Why Temporal cannot be used now; undefined when waiting does not help. */
function unavailabilityReason(error: unknown): string | undefined {
  if (!isGrpcServiceError(error)) {
    // The NativeConnection of a worker throws this error when it cannot connect.
    return error instanceof Error && error.name === 'TransportError' ? error.message : undefined;
  }
  if (hasStatus(error, GRPC.deadlineExceeded)) return 'it does not answer';
  if (hasStatus(error, GRPC.permissionDenied, GRPC.unauthenticated)) return undefined;
  if (hasStatus(error, GRPC.notFound)) return `${error.details} \`everpost temporal setup\` creates it`;
  return error.details;
}

/**
 * Calls `connect` as soon as Temporal answers and has the namespace, however long that takes.
 * @param address for the log
 * @throws ConfigError when Temporal refuses the credentials
 */
export async function waitForTemporal<T>(
  client: Client,
  address: string,
  logger: Logger,
  connect: () => Promise<T>,
): Promise<T> {
  const { namespace } = client.options;
  const what = `Temporal at ${address} (namespace ${namespace})`;
  async function attempt(): Promise<T> {
    await checkTemporal(client);
    return connect();
  }
  try {
    return await waitUntilThere(attempt, { what, unavailabilityReason, logger });
  } catch (error) {
    if (!isGrpcServiceError(error)) throw error;
    throw new ConfigError(`${what} refuses the credentials: ${error.details}`, { cause: error });
  }
}
