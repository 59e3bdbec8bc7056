import type { Config } from '../config.ts';
import type { Logger } from '../logger.ts';

export interface Tracing {
  /** Sends the remaining spans. Never throws, and takes two seconds at most. */
  stop: () => Promise<void>;
}

/** Starts tracing if the configuration asks for it. Otherwise OpenTelemetry's SDK is not loaded. */
export async function startTracing(
  { tracing }: Config,
  processName: 'api' | 'worker',
  logger: Logger,
): Promise<Tracing> {
  if (tracing.warning !== undefined) logger.warn(tracing.warning);
  if (!tracing.isOn) return { stop: async () => undefined };
  const { startSdk } = await import('./sdk.ts');
  const stop = await startSdk({ protocol: tracing.protocol, serviceName: `everpost-${processName}` }, logger);
  logger.info({ protocol: tracing.protocol }, 'tracing');
  return { stop };
}
