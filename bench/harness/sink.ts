import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { findFreePort } from '../../local/processes/free-port.ts';
import { findOnPath } from '../../local/temporal/program-search.ts';
import { STOP_RANKS, type Processes } from './processes.ts';

/** `own` is ours and counts by recipient; `smtp-sink` is Postfix's load sink, which counts nothing. */
export type SinkKind = 'own' | 'smtp-sink';

/** What a sink was given since it started or was reset. */
export interface SinkSummary {
  messages: number;
  /** Different envelope recipients. */
  recipients: number;
  /** Messages beyond the first of each recipient. */
  duplicates: number;
  bytes: number;
}

/** An SMTP server that throws mail away. */
export interface Sink {
  readonly pid: number;
  /** Port on 127.0.0.1. */
  readonly port: number;
  /** For SMTP_URL. */
  readonly url: string;
  /** Undefined when this kind of sink does not count. */
  summary: () => Promise<SinkSummary | undefined>;
  /** When each recipient's first email was complete, in milliseconds since 1970 with fractions. */
  arrivals: () => Promise<Map<string, number>>;
  /** Answers each content after so many milliseconds from now on. */
  answerAfter: (ms: number) => Promise<void>;
  /** Forgets everything counted so far. */
  reset: () => Promise<void>;
}

const START_TIMEOUT_MS = 10_000;
const BACKLOG = '1024';

/** Starts a sink in a process of its own on a free port. @throws Error when the wanted kind is not installed */
export async function startSink(kind: SinkKind, processes: Processes): Promise<Sink> {
  return kind === 'own' ? startOwnSink(processes) : startPostfixSink(processes);
}

async function startOwnSink(processes: Processes): Promise<Sink> {
  const running = await processes.startNode({
    name: 'sink',
    entry: 'bench/harness/sink-main.ts',
    stopRank: STOP_RANKS.sinks,
    canProfile: true,
  });
  const line = await running.line((text) => text.startsWith('{'), START_TIMEOUT_MS);
  const { smtpPort, controlPort } = JSON.parse(line) as { smtpPort: number; controlPort: number };
  const control = `http://127.0.0.1:${controlPort}`;
  return {
    pid: running.pid,
    port: smtpPort,
    url: `smtp://127.0.0.1:${smtpPort}`,
    summary: async () => (await (await fetch(control)).json()) as SinkSummary,
    arrivals: async () => new Map((await (await fetch(`${control}/arrivals`)).json()) as [string, number][]),
    answerAfter: async (ms) => void (await fetch(`${control}/latency?ms=${ms}`)),
    reset: async () => void (await fetch(control, { method: 'POST' })),
  };
}

async function startPostfixSink(processes: Processes): Promise<Sink> {
  const command = findOnPath('smtp-sink') ?? findOnPath('/usr/sbin/smtp-sink');
  if (command === undefined) throw new Error('smtp-sink is not on the PATH; it comes with the package postfix.');
  const port = await findFreePort(0);
  // As root it insists on another user.
  const account = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const running = await processes.startProgram({
    name: 'smtp-sink',
    command,
    args: [...account, `127.0.0.1:${port}`, BACKLOG],
    stopRank: STOP_RANKS.sinks,
  });
  await waitForPort(port, Date.now() + START_TIMEOUT_MS);
  return {
    pid: running.pid,
    port,
    url: `smtp://127.0.0.1:${port}`,
    summary: () => Promise.resolve(undefined),
    arrivals: () => Promise.reject(new Error('smtp-sink does not say when mail came in.')),
    answerAfter: () => Promise.reject(new Error('smtp-sink always answers at once.')),
    reset: () => Promise.resolve(),
  };
}

async function waitForPort(port: number, deadline: number): Promise<void> {
  for (;;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
      socket.once('close', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (isOpen) return;
    if (Date.now() > deadline) throw new Error(`Nothing listens on port ${port}.`);
    await delay(50);
  }
}
