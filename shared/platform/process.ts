import { ConfigError } from './config.ts';
import { describeError } from './log-error.ts';
import { createLogger } from './logger.ts';

export interface ProcessHooks {
  /**
   * Sets the handler that is called when the process is told to stop (SIGTERM, SIGINT) or has failed. A later handler
   * replaces an earlier one, and it is called once.
   */
  onStop: (stop: () => Promise<void>) => void;
  /** Ends the process after a fault that it cannot continue with: it stops gracefully and exits with code 1. */
  fail: (error: unknown, message: string) => void;
}

/** The longest time that a failed process may take to stop. */
const FAILED_STOP_MS = 30_000;

/**
 * Runs a long-lived process. A configuration fault ends it with one plain message. A signal stops it gracefully, a
 * second signal at once. After an uncaught error the state of the process is unknown: it takes no more work, finishes
 * the work under way and exits with code 1, so that its supervisor starts another one.
 */
export async function runProcess(name: string, start: (hooks: ProcessHooks) => Promise<void>): Promise<void> {
  const logger = createLogger({ level: 'fatal', name });
  let stop: (() => Promise<void>) | undefined;
  let isStopping = false;

  function end(exitCode: number): void {
    isStopping = true;
    if (!stop) process.exit(exitCode);
    stop().then(
      () => process.exit(exitCode),
      (error: unknown) => {
        console.error(`${name} did not stop cleanly:`, describeError(error));
        process.exit(1);
      },
    );
  }
  function fail(error: unknown, message: string): void {
    if (error instanceof ConfigError) logger.fatal(`${message}: ${error.message}`);
    else logger.fatal({ err: error }, message);
    if (isStopping) return;
    setTimeout(() => process.exit(1), FAILED_STOP_MS).unref();
    end(1);
  }
  const onSignal = (): void => {
    if (isStopping) process.exit(1);
    end(0);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  process.on('uncaughtException', (error) => fail(error, 'an uncaught error: the process stops'));
  process.on('unhandledRejection', (reason) => fail(reason, 'an unhandled rejection: the process stops'));

  try {
    await start({
      onStop(callback) {
        stop = callback;
      },
      fail,
    });
  } catch (error) {
    if (error instanceof ConfigError) console.error(error.message);
    else console.error(`${name} could not start:`, describeError(error));
    process.exit(1);
  }
}
