import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { TASK_QUEUES } from '../shared/pure/task-queues.ts';
import { projectRoot } from '../shared/platform/paths.ts';

const chart = path.join(projectRoot, 'deploy/helm/everpost');
const read = (file: string) => readFileSync(path.join(chart, file), 'utf8');

interface Values {
  image: { repository: string };
  workers: Record<string, { taskQueues: string[] }>;
  workerVersioning: Record<string, unknown>;
  env: Record<string, unknown>;
}

const schema = z.fromJSONSchema(JSON.parse(read('values.schema.json')));
const defaults = parse(read('values.yaml')) as Values;
const filled = {
  ...defaults,
  image: { ...defaults.image, repository: 'registry.example/everpost' },
  existingSecret: 'everpost',
  publicUrl: 'https://mail.example',
  temporal: { address: 'temporal:7233', namespace: 'everpost' },
};
const withEnv = (env: Record<string, unknown>) => ({ ...filled, env });
const withQueues = (taskQueues: string[]) => ({
  ...filled,
  workers: { all: { ...defaults.workers['all'], taskQueues } },
});

const withVersions = (change: Record<string, unknown>) => ({
  ...filled,
  workerVersioning: { ...defaults.workerVersioning, enabled: true, ...change },
});

describe('the values of the Helm chart', () => {
  it('are valid once the image, the secret, the address and Temporal are set', () => {
    expect(schema.safeParse(filled)).toMatchObject({ success: true });
  });

  it.each([
    ['the defaults alone', defaults],
    ['a field that does not exist', { ...filled, replicas: 3 }],
    ['a public address without a scheme', { ...filled, publicUrl: 'mail.example' }],
    ['a queue that does not exist', withQueues(['mail'])],
    ['a secret among the variables', withEnv({ APP_SECRET: 'x'.repeat(32) })],
    ['no workers', { ...filled, workers: {} }],
    ['a build that Temporal would refuse', withVersions({ buildId: 'v1:4' })],
    ['an old build without its image', withVersions({ draining: [{ buildId: '1.4.0' }] })],
  ])('refuse %s', (_name, values) => {
    expect(schema.safeParse(values).success).toBe(false);
  });

  it('accept versions of workers, and a client certificate for Temporal', () => {
    const draining = [{ buildId: '1.4.0', tag: '1.4.0', replicas: 1 }];
    expect(schema.safeParse(withVersions({ deployment: 'mail', draining }))).toMatchObject({ success: true });
    const temporal = { address: 'a.b.tmprl.cloud:7233', namespace: 'a.b', tls: true, tlsSecret: 'client' };
    expect(schema.safeParse({ ...filled, temporal })).toMatchObject({ success: true });
  });

  it('accept every queue of the workers, and every further variable', () => {
    expect(schema.safeParse(withQueues(Object.keys(TASK_QUEUES)))).toMatchObject({ success: true });
    expect(schema.safeParse(withEnv({ INBOUND_DOMAIN: 'in.example', SMTP_CONNECTIONS: 50 }))).toMatchObject({
      success: true,
    });
  });
});

describe('the templates of the Helm chart', () => {
  const texts = globSync('templates/*', { cwd: chart }).map(read);

  it('set only variables that the configuration reads', () => {
    const known = readFileSync(path.join(projectRoot, 'shared/platform/config.ts'), 'utf8');
    const variables = texts.flatMap((text) => [...text.matchAll(/(?:name: |^)([A-Z][A-Z_]+)(?:, value|:)/gm)]);
    const set = variables.map(([, name]) => name).filter((name) => !name?.startsWith('TEMPORAL_'));
    expect(set).toContain('WORKER_BUILD_ID');
    expect(set.length).toBeGreaterThan(8);
    for (const name of set) expect(known).toMatch(new RegExp(`\\b${name}:`));
  });

  it('run only commands and programs that exist', () => {
    const programs = texts.flatMap((text) =>
      [...text.matchAll(/\b(\w+\/[\w-]+\.ts)\b/g)].map(([, file]) => file ?? ''),
    );
    expect(programs).toEqual(expect.arrayContaining(['worker/main.ts', 'worker/replay-open-workflows.ts']));
    for (const file of programs) expect([file, existsSync(path.join(projectRoot, file))]).toEqual([file, true]);
    const cli = globSync('cli/*-commands.ts', { cwd: projectRoot }).map((file) =>
      readFileSync(path.join(projectRoot, file), 'utf8'),
    );
    expect(texts.join('\n')).toContain('[everpost, deploy, current,');
    expect(cli.join('\n')).toMatch(/addCommand\(\s*deploy,\s*'current /);
  });

  it('make an ingress only where the addresses it sends from are named', () => {
    expect(read('templates/api.yaml')).toMatch(
      /if \$api\.ingress\.enabled \}\}\n\{\{- \$_ := required "env\.API_PROXY_SOURCES /,
    );
  });

  it('give pods a ConfigMap that is there at any time, and only the jobs before them a copy', () => {
    const [own, copy] = read('templates/config.yaml').split(/^---$/m);
    expect([own, copy].map((text) => text?.includes('helm.sh/hook:'))).toEqual([false, true]);
    expect(texts.filter((text) => text.includes('"everpost.container" (list $ "setup")'))).toEqual([
      read('templates/setup.yaml'),
    ]);
    expect(texts.join('\n')).not.toContain('emptyDir: {}');
  });

  it('read only values that exist', () => {
    const used = new Set(
      texts.flatMap((text) => [...text.matchAll(/\.Values((?:\.\w+)+)/g)].map(([, name]) => name ?? '')),
    );
    expect(used.size).toBeGreaterThan(15);
    for (const name of used) {
      const found = name
        .split('.')
        .slice(1)
        .reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], defaults);
      expect([name, found]).not.toEqual([name, undefined]);
    }
  });
});
