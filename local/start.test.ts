import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { projectRoot } from '../shared/platform/paths.ts';

let folder: string;
let home: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'everpost-home-'));
  home = path.join(folder, 'everpost');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Starts the stack on the folder; resolves with its message when it could not start. */
function complaint(): Promise<string> {
  return new Promise((resolve, reject) => {
    const args = ['--disable-warning=ExperimentalWarning', path.join(projectRoot, 'local/start.ts')];
    const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], EVERPOST_HOME: home };
    execFile(process.execPath, args, { cwd: projectRoot, env, timeout: 60_000 }, (error, _stdout, stderr) => {
      if (error?.code === 1) resolve(stderr.trim());
      else reject(new Error(`ended with ${String(error?.code ?? error?.signal)}: ${stderr}`));
    });
  });
}

async function expectComplaint(...parts: string[]): Promise<void> {
  const text = await complaint();
  for (const part of parts) expect(text).toContain(part);
  expect(text.split('\n')).toHaveLength(1);
}

describe('npm start on a folder with damaged or foreign files', () => {
  it.each(['', '{"projectId":"019', '[]', '{}', 'null', '{"projectId":7,"publicKey":"pk_a","secretKey":"sk_a"}'])(
    'names a damaged file of keys and leaves it as it is: %j',
    async (content) => {
      mkdirSync(home);
      const file = path.join(home, 'local.json');
      writeFileSync(file, content);
      await expectComplaint(`${file} is damaged and was left as it is`, 'move it away');
      expect(readFileSync(file, 'utf8')).toBe(content);
    },
  );

  it('names a damaged secret and leaves it as it is', async () => {
    mkdirSync(home);
    const file = path.join(home, 'app-secret');
    writeFileSync(file, 'half');
    await expectComplaint(`${file} is damaged and was left as it is`, 'Restore it from a backup');
    expect(readFileSync(file, 'utf8')).toBe('half');
  });

  it('names a damaged list of running processes and asks whether another start runs', async () => {
    mkdirSync(home);
    const file = path.join(home, 'running.json');
    writeFileSync(file, '{"pid": ');
    await expectComplaint(`${file} is damaged`, 'make sure that no other `npm start` runs');
    expect(readFileSync(file, 'utf8')).toBe('{"pid": ');
  });

  it('names a file where a folder should be', async () => {
    writeFileSync(home, 'mine');
    await expectComplaint(`${home} cannot be used: it is not a folder. Move it away, or set EVERPOST_HOME`);
    expect(readFileSync(home, 'utf8')).toBe('mine');
    rmSync(home);
    mkdirSync(home);
    writeFileSync(path.join(home, 'logs'), '');
    await expectComplaint(`${path.join(home, 'logs')} cannot be used: it is not a folder`);
  });

  it('names a folder whose parent is a file', async () => {
    writeFileSync(path.join(folder, 'file'), '');
    home = path.join(folder, 'file', 'everpost');
    await expectComplaint(`${home} cannot be used: a part of its path is not a folder`);
  });

  it('says that the disk is full', async () => {
    mkdirSync(home);
    symlinkSync('/dev/full', path.join(home, 'running.json.new'));
    await expectComplaint(`${path.join(home, 'running.json')} cannot be used: the disk is full. Free some space`);
  });

  it('takes over an empty lock that a crash has left', async () => {
    mkdirSync(home);
    const lock = path.join(home, 'running.lock');
    writeFileSync(lock, '');
    utimesSync(lock, new Date(0), new Date(0));
    writeFileSync(path.join(home, 'local.json'), '');
    await expectComplaint('local.json is damaged');
  });
});
