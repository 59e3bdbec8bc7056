import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { parse as parseYaml } from 'yaml';
import { createProgram } from '../../cli/run-cli.ts';
import { projectRoot } from '../../shared/platform/paths.ts';

const PLACEHOLDER = /<[a-z][\w -]*>/gi;
const OPERATOR_COMMAND = /^npm run --silent everpost -- (.*)$/;
/** Shell blocks with these programs do not run, but have to be right for the shell. */
const NOT_RUN: [program: RegExp, reason: string][] = [
  [/^npm (start|test)\b/, 'tests/local-stack.test.ts starts the stack, and this is a test'],
  [/^npm run bench\b/, 'it takes minutes'],
  [/^(docker|kubectl|helm)\b/, 'it needs a container engine; tests/helm-chart.test.ts and tests/deployment.test.ts'],
  [/^temporal\b/, 'it is about workflows that are not there'],
  [/\bnpm (pack|install)\b/, 'it needs a registry; tests/client-runtimes.test.ts runs the built client'],
  [/^(pg_dump|createdb|pg_restore)\b/, 'the PostgreSQL of the tests has no clients'],
  [/^(git clone|npm ci)\b/, 'it is the clone that runs this test'],
];

/** Commands of a block, without comments, each on one line. */
function commandsOf(code: string): string[] {
  const lines = code.replaceAll(/\\\n\s*/g, '').split('\n');
  return lines.map((line) => line.replace(/(^|\s)#.*$/, '').trim()).filter((line) => line !== '');
}

/** Splits the words of a simple command as a shell does. */
function wordsOf(command: string): string[] {
  return (command.match(/'[^']*'|"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll(/^['"]|['"]$/g, ''));
}

/** Parses an operator command, without carrying it out. @throws Error when the command is not understood */
function parseOperatorCommand(text: string): void {
  let words = wordsOf(text);
  let command: Command = createProgram({ writeOut: () => {}, writeError: () => {}, environment: {} });
  for (;;) {
    const next = command.commands.find((child) => child.name() === words[0]);
    if (!next) break;
    command = next;
    words = words.slice(1);
  }
  const { operands, unknown } = command.parseOptions(words);
  const { registeredArguments: declared } = command;
  const required = declared.filter((argument) => argument.required).length;
  const fault =
    command.commands.length > 0 ||
    unknown.length > 0 ||
    operands.length < required ||
    operands.length > declared.length;
  if (fault) throw new Error(`the CLI does not understand ${command.name()} ${words.join(' ')}`);
}

function assertBalanced(code: string): void {
  const count = (sign: string) => code.split(sign).length;
  if (count('{') !== count('}')) throw new Error(`the braces do not match: ${code}`);
}

async function checkShell(code: string): Promise<boolean> {
  const commands = commandsOf(code);
  const isListed = commands.some((command) => NOT_RUN.some(([program]) => program.test(command)));
  const areOperatorCommands = commands.every((command) => OPERATOR_COMMAND.test(command));
  if (!isListed && !areOperatorCommands) return false;
  await promisify(execFile)('bash', ['-n', '-c', code.replaceAll(PLACEHOLDER, 'placeholder')]);
  for (const command of commands) {
    const operator = OPERATOR_COMMAND.exec(command)?.[1];
    if (operator !== undefined) parseOperatorCommand(operator.replaceAll(PLACEHOLDER, 'placeholder'));
    const bench = /^npm run bench -- (\S+)/.exec(command)?.[1];
    if (bench !== undefined && !existsSync(path.join(projectRoot, 'bench', `${bench}.ts`)))
      throw new Error(`there is no bench ${bench}`);
  }
  return true;
}

/** Parses a block that cannot run in a test. @returns false for a block that can run */
export async function checkWithoutRunning({ language, code }: { language: string; code: string }): Promise<boolean> {
  if (language === 'mermaid') return true;
  if (language === 'nginx' || language === 'caddy') assertBalanced(code);
  else if (language === 'yaml') parseYaml(code);
  else if (language === 'sh' || language === 'bash') return checkShell(code);
  else return false;
  return true;
}
