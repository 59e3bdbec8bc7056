import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../tests/support/eventually.ts';
import { startChild } from './child-process.ts';
import type { ChildSpec, ManagedChild } from './child-process.ts';
import { startProcessGuard } from './process-guard.ts';
import { isRunning } from './running-process.ts';
import { createSupervisor } from './supervisor.ts';

describe('supervisor', () => {
  let folder: string;
  let started: number[];
  let reports: string[];

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'everpost-supervisor-'));
    started = [];
    reports = [];
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const supervise = () =>
    createSupervisor(
      (line) => reports.push(line),
      (pid) => started.push(pid),
    );

  function script(name: string, code: string, stopRank = 1): ChildSpec {
    return {
      name,
      command: process.execPath,
      args: ['-e', code],
      cwd: folder,
      env: process.env,
      logFile: path.join(folder, `${name}.log`),
      stopRank,
      guard: startProcessGuard(),
    };
  }

  function partOf(spec: ChildSpec) {
    return async (onSpawn: (child: ManagedChild) => void) => ({ child: await startChild({ ...spec, onSpawn }) });
  }

  it('restarts a killed child and names its log', async () => {
    const supervisor = supervise();
    await supervisor.start('worker', partOf(script('worker', 'setInterval(() => {}, 1000)')));
    supervisor.restartFromNowOn();
    process.kill(started[0]!, 'SIGKILL');
    await eventually(async () => started.length === 2);

    expect(reports).toEqual([
      expect.stringMatching(
        /^worker was ended by SIGKILL unexpectedly\. Starting worker again; its log is .*worker\.log$/,
      ),
    ]);
    await supervisor.stopAll();
    expect(started.filter(isRunning)).toEqual([]);
  });

  it('gives up on a child that ends again and again', async () => {
    const supervisor = supervise();
    supervisor.restartFromNowOn();
    await supervisor.start('worker', partOf(script('worker', 'process.exit(3)')));

    await expect(supervisor.failed).resolves.toMatch(
      /exit code 3 unexpectedly[^]*5 times within a minute.* Read .*worker\.log$/,
    );
    expect(started).toHaveLength(5);
  });

  it('does not restart a part before everything was up once', async () => {
    const supervisor = supervise();
    await supervisor.start('api', partOf(script('api', "console.error('PORT is wrong'); process.exit(1)")));

    await expect(supervisor.failed).resolves.toMatch(/PORT is wrong/);
    expect(started).toHaveLength(1);
  });

  it('stops a part that is being restarted', async () => {
    const supervisor = supervise();
    let starts = 0;
    await supervisor.start('worker', async (onSpawn) => {
      const child = await startChild({ ...script('worker', 'setInterval(() => {}, 1000)'), onSpawn });
      // The second process never becomes ready.
      if (++starts > 1) await child.exited;
      return { child };
    });
    supervisor.restartFromNowOn();
    process.kill(started[0]!, 'SIGKILL');
    await eventually(async () => started.length === 2);
    await supervisor.stopAll();
    expect(started.filter(isRunning)).toEqual([]);
    expect(started).toHaveLength(2);
  });

  it('kills a child that ignores the request to stop', async () => {
    const supervisor = supervise();
    const code = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('ready')";
    const { child } = await supervisor.start('worker', partOf({ ...script('worker', code), stopTimeoutMs: 500 }));
    await eventually(async () => child.lastLines().includes('ready'));
    await supervisor.stopAll();
    expect(started.filter(isRunning)).toEqual([]);
  });
});
