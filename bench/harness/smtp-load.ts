import type { BenchContext } from './contract.ts';

/** Messages to submit. */
export interface SmtpLoad {
  /** Where the server listens on this machine. */
  port: number;
  /** The password of AUTH PLAIN. */
  key: string;
  /** The message as it follows DATA, with the final dot; every `{n}` in it becomes its number, nine digits long. */
  content: string;
  firstNumber: number;
  /** One message at a time each. */
  connections: number;
  durationMs: number;
}

/** The result of a load. */
export interface SmtpLoadResult {
  messages: number;
  /** Number of messages by their last reply; of an acceptance only the code. */
  replies: Record<string, number>;
  elapsedMs: number;
  /** Of each message, from its first command to its acceptance, in milliseconds. */
  latencies: number[];
  /** The number to continue with. */
  nextNumber: number;
  /** CPU time of the load generator. */
  cpuMs: number;
}

const WARM_UP_MS = 2_000;
let loads = 0;

/** Sends a load from a process of its own. @throws Error when any reply was not 250 */
async function sendSmtpLoad(context: BenchContext, load: SmtpLoad): Promise<SmtpLoadResult> {
  loads += 1;
  const running = await context.startNode({
    name: `smtp-load-${loads}`,
    entry: 'bench/harness/smtp-load-main.ts',
    args: [JSON.stringify(load)],
  });
  const line = await running.line((text) => text.startsWith('{'), load.durationMs + 60_000);
  await running.exited;
  const result = JSON.parse(line) as SmtpLoadResult;
  if (Object.keys(result.replies).join() !== '250') throw new Error(`DATA answered ${JSON.stringify(result.replies)}`);
  return result;
}

/** Sends the load for two seconds first, so that compiled code and full pools are measured, then for its own time. */
export async function measureSmtpLoad(context: BenchContext, load: SmtpLoad): Promise<SmtpLoadResult> {
  const warmUp = await sendSmtpLoad(context, { ...load, durationMs: WARM_UP_MS });
  return sendSmtpLoad(context, { ...load, firstNumber: warmUp.nextNumber });
}
