import { runCli } from '../../cli/run-cli.ts';

export interface CliResult {
  exitCode: number;
  out: string;
  error: string;
}

/** Runs an operator command in this process, with these environment variables. */
export async function runCommand(args: string[], environment: NodeJS.ProcessEnv): Promise<CliResult> {
  const result: CliResult = { exitCode: 0, out: '', error: '' };
  result.exitCode = await runCli(args, {
    environment,
    writeOut: (text) => (result.out += text),
    writeError: (text) => (result.error += text),
  });
  return result;
}
