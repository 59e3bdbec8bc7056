import { setTimeout as delay } from 'node:timers/promises';
import { findFreePort } from '../../../local/processes/free-port.ts';
import { startTestApi } from '../api.ts';
import { testEnvironment } from '../environment.ts';
import { eventually } from '../eventually.ts';
import { LOOP_WATCH, startEverpostProcess } from '../everpost-process.ts';
import { startFaultyProxy } from '../faulty-proxy.ts';
import { createSmtpSink } from '../smtp-sink.ts';
import { createSuccession } from '../succession.ts';
import { startTcpProxy } from '../tcp-proxy.ts';
import { createTemporalProcess } from '../temporal-process.ts';
import { createTestNamespace } from '../temporal.ts';
import { PATIENCE_MS, type Kill, type KillWorld } from './load.ts';

const DATABASE_AWAY_MS = 300;
/** A share of the requests that a client sends in vain. */
const FAULTY_SHARE = 0.2;

/** The world before its start, so that loads can be made for it. */
export interface KillWorldToStart extends KillWorld {
  start: () => Promise<void>;
  /** Kills a part, does something while it is dead, and starts it again. */
  kill: (part: Kill, meanwhile: () => Promise<void>) => Promise<void>;
}

/** Starts everything but a worker. */
async function startParts(beforeReply: KillWorld['beforeReply']) {
  const server = await createTemporalProcess();
  const sink = await createSmtpSink({
    keepMessages: false,
    beforeReply: (recipient) => beforeReply.get(recipient.split('@')[1] ?? '')?.(),
  });
  const config = {
    SMTP_URL: [sink.url],
    SMTP_CONNECTIONS: 10,
    API_RATE_LIMIT_PER_MINUTE: 10_000_000,
    WEBHOOK_ALLOWED_NETWORKS: ['127.0.0.1'],
  };
  const [prepared] = await Promise.all([startTestApi({ config }), server.start()]);
  const temporal = await createTestNamespace(server.address);
  const proxies = {
    worker: await startTcpProxy(prepared.database.url),
    api: await startTcpProxy(prepared.database.url),
  };
  const [port, submissionPort] = [await findFreePort(0), await findFreePort(0)];
  const apiUrl = `http://127.0.0.1:${port}`;
  const workerProcess = createSuccession((nodeArguments) =>
    startEverpostProcess(
      'worker',
      { ...prepared.config, DATABASE_URL: proxies.worker.url },
      temporal,
      // The loads keep connections waiting for locks.
      { WORKFLOW_BUNDLE: testEnvironment().workflowBundlePath, DATABASE_POOL_SIZE: '20' },
      ['--import', LOOP_WATCH, ...nodeArguments],
    ),
  );
  const ports = { HOST: '127.0.0.1', PORT: String(port), SUBMISSION_PORT: String(submissionPort) };
  const apiProcess = createSuccession((nodeArguments) =>
    startEverpostProcess('api', { ...prepared.config, DATABASE_URL: proxies.api.url }, temporal, ports, nodeArguments),
  );
  const faulty = await startFaultyProxy(apiUrl, FAULTY_SHARE);
  return { server, prepared, sink, temporal, proxies, apiUrl, submissionPort, workerProcess, apiProcess, faulty };
}

/** The stack that all kills share. */
export function createKillWorld(): KillWorldToStart {
  const beforeReply: KillWorld['beforeReply'] = new Map();
  let parts: Awaited<ReturnType<typeof startParts>>;
  const untilReady = () => eventually(async () => (await fetch(`${parts.apiUrl}/ready`)).ok, PATIENCE_MS);

  async function stop(): Promise<void> {
    await Promise.all([parts.apiProcess.close(), parts.workerProcess.close()]);
    await parts.faulty.close();
    await parts.temporal.close();
    await parts.prepared.stop();
    await Promise.all([parts.proxies.api.close(), parts.proxies.worker.close()]);
    await parts.sink.close();
    await parts.server.remove();
  }

  async function kill(part: Kill, meanwhile: () => Promise<void>): Promise<void> {
    switch (part) {
      case 'worker':
        await parts.workerProcess.kill();
        await meanwhile();
        parts.workerProcess.start();
        return;
      case 'api':
        await parts.apiProcess.kill();
        await meanwhile();
        parts.apiProcess.start();
        await untilReady();
        return;
      case 'postgresql':
      case 'postgresql of the api': {
        const { api, worker } = parts.proxies;
        const cut = part === 'postgresql' ? [api, worker] : [api];
        // What a kill of PostgreSQL does: connections break, transactions are rolled back, and nobody can connect.
        await Promise.all(cut.map((proxy) => proxy.cut()));
        await Promise.all([meanwhile(), delay(DATABASE_AWAY_MS)]);
        await Promise.all(cut.map((proxy) => proxy.restore()));
        return;
      }
      case 'temporal':
      case 'temporal in order':
        await parts.server.stop(part === 'temporal' ? 'SIGKILL' : 'SIGTERM');
        await meanwhile();
        await parts.server.start();
    }
  }

  const world = { beforeReply, kill, stop } as KillWorldToStart;
  return Object.assign(world, {
    async start() {
      parts = await startParts(beforeReply);
      Object.assign(world, parts.prepared, parts, { stop });
      parts.apiProcess.start();
      await untilReady();
    },
  });
}
