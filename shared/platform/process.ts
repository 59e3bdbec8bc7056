import { ConfigError } from './config.ts';

export interface ProcessHooks {
  /** What to do when the process is told to stop (SIGTERM, SIGINT). Called once. */
  onStop: (stop: () => Promise<void>) => void;
}

/**
 * Runs a long-lived process: configuration faults end it with one plain message, a signal stops it gently, a second
 * signal at once.
 */
export async function runProcess(name: string, start: (hooks: ProcessHooks) => Promise<void>): Promise<void> {
  let stop: (() => Promise<void>) | undefined;
  let isStopping = false;

  const onSignal = (): void => {
    if (isStopping) process.exit(1);
    isStopping = true;
    if (!stop) process.exit(0);
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(`${name} did not stop cleanly:`, error);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);

  try {
    await start({
      onStop(callback) {
        stop = callback;
      },
    });
  } catch (error) {
    if (error instanceof ConfigError) console.error(error.message);
    else console.error(`${name} could not start:`, error);
    process.exit(1);
  }
}
