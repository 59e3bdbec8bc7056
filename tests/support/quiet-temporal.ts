import { DefaultLogger, Runtime } from '@temporalio/worker';

/** Keeps the SDK's tales of the life of each worker out of test output. Once per test file, before any connection. */
export function quietTemporal(): void {
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' }, forward: {} } },
  });
}
