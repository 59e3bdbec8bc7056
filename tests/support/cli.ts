import { runCli } from '../../cli/run-cli.ts';

export interface CliResult {
  exitCode: number;
  out: string;
  error: string;
}

/** Runs an operator command in this process, with these environment variables. */
export async function runCommand(args: string[], environment: NodeJS.ProcessEnv): Promise<CliResult> {
  let [out, error] = ['', ''];
  const exitCode = await runCli(args, {
    environment,
    writeOut: (text) => (out += text),
    writeError: (text) => (error += text),
  });
  return { exitCode, out, error };
}
