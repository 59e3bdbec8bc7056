import { DefaultLogger, Runtime } from '@temporalio/worker';

let isQuiet = false;

/** Keeps the SDK's logs of workers out of test output. Must be called before any connection is made. */
export function quietTemporal(): void {
  if (isQuiet) return;
  isQuiet = true;
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' }, forward: {} } },
  });
}
