import { DefaultLogger, Runtime } from '@temporalio/worker';
import './quick-workflows.ts';

let isQuiet = false;

/** Keeps the SDK's logs of workers out of test output. Must be called before any connection is made. */
export function quietTemporal(): void {
  if (isQuiet) return;
  isQuiet = true;
  const runtime = Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' }, forward: {} } },
  });
  // The SDK remembers the options, and starts a runtime with them for the first connection or worker. One that nothing
  // uses would keep its process from ending.
  void runtime.shutdown();
}

/**
 * Creates workers whose workflows run in this thread, because each thread for workflows takes a quarter of a second of
 * CPU to start. Worker processes have these threads in tests, too.
 */
export async function withoutThreads<T>(create: () => Promise<T>): Promise<T> {
  process.env['TEMPORAL_DEBUG'] = '1';
  try {
    return await create();
  } finally {
    delete process.env['TEMPORAL_DEBUG'];
  }
}
