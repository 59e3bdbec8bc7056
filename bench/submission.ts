import { findFreePort } from '../local/processes/free-port.ts';
import { quantile, round, type Bench, type BenchContext } from './harness/contract.ts';
import { cpuSince, POOL_SIZE, readCpu } from './harness/request-bench.ts';
import { measureSmtpLoad, type SmtpLoadResult } from './harness/smtp-load.ts';
import type { BenchStack } from './harness/stack.ts';
import { waitUntilDelivered } from './send.ts';

/** A message of some 2 KB, as a shop sends it. */
function contentFor({ project }: BenchStack): string {
  const paragraph = '<p>Thank you for buying from us.</p>\r\n'.repeat(10);
  return [
    `From: Shop <orders@${project.domain}>`,
    'To: reader{n}@example.com',
    'Subject: Your order {n}',
    'Message-ID: <{n}@bench.test>',
    'Date: Fri, 02 Jan 2026 03:04:05 +0000',
    'MIME-Version: 1.0',
    'Content-Type: multipart/alternative; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain; charset=utf-8',
    '',
    'Dear reader, your order {n} is on its way.',
    '',
    '--b',
    'Content-Type: text/html; charset=utf-8',
    '',
    `<p>Dear reader, your order {n} is on its way.</p>${paragraph}`,
    '--b--',
    '.',
    '',
  ].join('\r\n');
}

function describe({ messages, elapsedMs, latencies }: SmtpLoadResult) {
  return {
    perSecond: (messages / elapsedMs) * 1000,
    p50Ms: round(quantile(latencies, 0.5), 1),
    p99Ms: round(quantile(latencies, 0.99), 1),
  };
}

/** The limit: a bare `smtp-server` that inserts each message as one row, on the same database, in the same run. */
async function measureBare(
  context: BenchContext,
  stack: BenchStack,
  load: Omit<Parameters<typeof measureSmtpLoad>[1], 'port'>,
) {
  context.progress('Measuring the limit');
  const server = await context.startNode({
    name: 'bare-smtp',
    entry: 'bench/harness/bare-smtp-main.ts',
    env: { ...process.env, DATABASE_URL: stack.databaseUrl, DATABASE_POOL_SIZE: POOL_SIZE },
  });
  const line = await server.line((text) => text.startsWith('listening on '));
  const cpuBefore = readCpu(context, stack, server.pid);
  const result = await measureSmtpLoad(context, { ...load, port: Number(line.split(' ').at(-1)) });
  const cpuMsPerMessage = cpuSince(cpuBefore, readCpu(context, stack, server.pid), result);
  await server.stop();
  return { ...describe(result), cpuMsPerMessage };
}

export const bench: Bench = {
  description: 'Messages accepted a second by SMTP, against a bare smtp-server with one INSERT.',
  options: {
    connections: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '10' },
  },
  async run(context) {
    const sink = await context.startSink();
    const port = await findFreePort(0);
    const env = { DATABASE_POOL_SIZE: POOL_SIZE, SUBMISSION_PORT: String(port) };
    const stack = await context.startStack({ smtpUrl: sink.url, env });
    const load = {
      key: stack.project.secretKey,
      content: contentFor(stack),
      firstNumber: 0,
      connections: context.number('connections'),
      durationMs: context.number('seconds') * 1000,
    };
    const limit = await measureBare(context, stack, load);
    const api = stack.pids.api ?? 0;
    context.progress(`Measuring submission (limit ${round(limit.perSecond)} a second)`);
    context.meter.resetPeak(api);
    const cpuBefore = readCpu(context, stack, api);
    const measured = await measureSmtpLoad(context, { ...load, port });
    const cpuAfter = readCpu(context, stack, api);
    const { perSecond, p50Ms, p99Ms } = describe(measured);
    context.progress('Waiting until everything is delivered');
    const sent = await waitUntilDelivered(stack);
    const summary = await sink.summary();
    return {
      name: 'submission',
      figure: round(perSecond),
      unit: 'messages/s',
      limit: round(limit.perSecond),
      ratio: round(perSecond / limit.perSecond, 3),
      p50Ms,
      p99Ms,
      cpuMsPerMessage: cpuSince(cpuBefore, cpuAfter, measured),
      peakApiMemoryMb: round(context.meter.peakMemoryMb(api)),
      limitP50Ms: limit.p50Ms,
      limitP99Ms: limit.p99Ms,
      limitCpuMsPerMessage: limit.cpuMsPerMessage,
      clientCpuMsPerMessage: round(measured.cpuMs / measured.messages, 3),
      lost: sent - (summary?.recipients ?? 0),
      duplicates: summary?.duplicates,
    };
  },
};
