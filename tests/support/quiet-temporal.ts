import { DefaultLogger, Runtime } from '@temporalio/worker';

let isQuiet = false;

/** Keeps what the SDK logs of each worker out of test output. Call it before any connection; a process has one runtime. */
export function quietTemporal(): void {
  if (isQuiet) return;
  isQuiet = true;
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' }, forward: {} } },
  });
}
