import path from 'node:path';
import { type ManagedChild, startChild, waitUntilReady } from '../processes/child-process.ts';
import { waitForHttp } from '../processes/http-ready.ts';
import { projectRoot } from '../../shared/platform/paths.ts';
import type { ProcessGuard } from '../processes/process-guard.ts';

export interface MailboxOptions {
  /** Messages are kept here as files. */
  folder: string;
  /** Both on 127.0.0.1. */
  smtpPort: number;
  webPort: number;
  logFile: string;
  stopRank: number;
  guard: ProcessGuard;
  /** Called as soon as there is a process. */
  onSpawn?: (child: ManagedChild) => void;
}

/** Starts the local mailbox as a process of its own and waits until it accepts mail and shows it. */
export async function startMailbox(options: MailboxOptions) {
  const child = await startChild({
    name: 'mailbox',
    command: process.execPath,
    args: [
      path.join(projectRoot, 'local', 'mailbox', 'mailbox-main.ts'),
      options.folder,
      String(options.smtpPort),
      String(options.webPort),
    ],
    cwd: projectRoot,
    env: process.env,
    logFile: options.logFile,
    stopRank: options.stopRank,
    guard: options.guard,
    onSpawn: options.onSpawn,
  });
  const webUrl = `http://127.0.0.1:${options.webPort}`;
  try {
    await waitUntilReady(child, 30_000, (signal) => waitForHttp(`${webUrl}/health`, signal));
  } catch (error) {
    await child.stop();
    throw error;
  }
  return { child, smtpUrl: `smtp://127.0.0.1:${options.smtpPort}`, webUrl };
}

export type Mailbox = Awaited<ReturnType<typeof startMailbox>>;
