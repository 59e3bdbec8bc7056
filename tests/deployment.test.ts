import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { VARIABLES } from '../shared/platform/config.ts';
import { projectRoot } from '../shared/platform/paths.ts';
import { WORKER_FLAGS } from '../shared/platform/worker-flags.ts';

interface Service {
  image?: string;
  command?: string[];
  environment?: Record<string, string>;
  ports?: string[];
  volumes?: string[];
  restart?: string;
  networks?: string[];
  mem_limit?: string;
  pids_limit?: number;
  logging?: { options: Record<string, string> };
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test?: string[]; disable?: boolean };
}

interface Compose {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
}

function read(file: string): string {
  return readFileSync(path.join(projectRoot, file), 'utf8');
}

const composeText = read('docker-compose.yml');
const compose = parse(composeText, { merge: true }) as Compose;
const services = Object.entries(compose.services);
/** Services that end by themselves, and for whose end others wait. */
const jobs = services.filter(([name]) =>
  services.some(([, { depends_on }]) => depends_on?.[name]?.condition === 'service_completed_successfully'),
);

describe('docker-compose.yml', () => {
  it('names the parts of Everpost and their dependencies', () => {
    expect(services.map(([name]) => name)).toEqual([
      'postgres',
      'temporal-schema',
      'temporal',
      'temporal-ui',
      'mailpit',
      'migrate',
      'temporal-setup',
      'api',
      'worker',
    ]);
    expect(jobs.map(([name]) => name)).toEqual(['temporal-schema', 'migrate', 'temporal-setup']);
  });

  it('runs the worker as `npm start` does, and so does the chart', () => {
    const command = ['node', ...WORKER_FLAGS, 'worker/main.ts'];
    expect(compose.services['worker']?.command).toEqual(command);
    expect(read('deploy/helm/everpost/templates/workers.yaml')).toContain(`command: [${command.join(', ')}]`);
  });

  it('keeps the UI of Temporal, which asks for no login, out of the networks of the worker', () => {
    const networksOf = (name: string) => compose.services[name]?.networks ?? [];
    expect(networksOf('worker').filter((name) => networksOf('temporal-ui').includes(name))).toEqual([]);
    expect(networksOf('temporal-ui').some((name) => networksOf('temporal').includes(name))).toBe(true);
  });

  it.each(services)('%s has an image of one exact version', (_name, { image }) => {
    expect(image).toMatch(/^[a-z0-9/-]+:v?\d+\.\d+(\.\d+)?(-[a-z0-9.]+)?$/);
  });

  it.each(services)('%s has a health check, or ends by itself', (name, { healthcheck, restart }) => {
    const isJob = jobs.some(([job]) => job === name);
    expect(isJob ? healthcheck?.disable : healthcheck?.test?.[0]).toBe(isJob ? true : 'CMD');
    expect(restart).toBe(isJob ? 'on-failure:5' : 'unless-stopped');
  });

  it.each(services)('%s waits for services that exist, in the state it needs', (_name, { depends_on = {} }) => {
    for (const [name, { condition }] of Object.entries(depends_on)) {
      const isJob = jobs.some(([job]) => job === name);
      expect(Object.keys(compose.services)).toContain(name);
      expect(condition).toMatch(isJob ? 'service_completed_successfully' : /^service_(healthy|started)$/);
    }
  });

  it.each(services)('%s has limits of memory, processes and logs', (_name, { mem_limit, pids_limit, logging }) => {
    expect(mem_limit).toMatch(/^(\$\{[A-Z_]+:-)?\d+[mg]\}?$/);
    expect(pids_limit).toBeGreaterThan(0);
    expect(Object.keys(logging?.options ?? {})).toEqual(['max-size', 'max-file']);
  });

  it.each(services)('%s holds no secret and requires those that it needs', (_name, { environment = {} }) => {
    for (const [variable, value] of Object.entries(environment)) {
      // These two secrets are optional.
      if (['APP_SECRETS_PREVIOUS', 'TEMPORAL_CODEC_TOKEN'].includes(variable)) expect(value).toBe(`\${${variable}:-}`);
      else if (/PASSWORD|PWD|SECRET|TOKEN/.test(variable)) expect(value).toMatch(/^\$\{[A-Z_]+:\?[^}]+\}$/);
      expect(value).not.toMatch(/:\/\/[^/@$]+:[^$@]+@/);
    }
  });

  it.each(services)(
    '%s publishes its ports to this host only, except those of mail where .env says so',
    (_name, { ports = [] }) => {
      for (const port of ports)
        expect(port).toMatch(/^(?:127\.0\.0\.1|\$\{(?:INBOUND_SMTP|SUBMISSION)_LISTEN:-127\.0\.0\.1\}):/);
    },
  );

  it.each(services)('%s mounts files that exist and volumes that are declared', (_name, { volumes = [] }) => {
    for (const volume of volumes) {
      const [source = ''] = volume.split(':');
      if (source.startsWith('./')) expect(existsSync(path.join(projectRoot, source))).toBe(true);
      else expect(Object.keys(compose.volumes)).toContain(source);
    }
  });

  it('links the console to the namespace in which the workflows run', () => {
    const { TEMPORAL_UI_URL: page, TEMPORAL_NAMESPACE: namespace } = compose.services['api']?.environment ?? {};
    expect(page?.endsWith(`/namespaces/${namespace}}`)).toBe(true);
  });

  it('uses variables that .env.example explains, and no other', () => {
    const used = new Set([...composeText.matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name));
    const explained = new Set([...read('.env.example').matchAll(/^#?([A-Z_]+)=/gm)].map(([, name]) => name));
    expect([...used].sort()).toEqual([...explained].sort());
  });
});

describe('the variables', () => {
  const namesIn = (text: string, pattern: RegExp) => new Set([...text.matchAll(pattern)].map(([, name = '']) => name));
  const table = /^\| variable \|[\s\S]*?\n\n/m.exec(read('docs/configuration.md'))?.[0] ?? '';
  const inTable = namesIn(table.replaceAll(/\|[^|]*\|[^|]*\|$/gm, ''), /`([A-Z][A-Z0-9_]+)`/g);
  const inConfig = new Set(VARIABLES);
  /** What the parts of the compose stack fix for each other, and what only `npm start` sets. */
  const fixed = ['DATABASE_URL', 'HEALTH_PORT', 'HOST', 'METRICS_HOST', 'METRICS_PORT', 'PORT', 'RESULTS_FOLDER'];
  const notSet = new Set([...fixed, 'TEMPORAL_ADOPT', 'WORKFLOW_BUNDLE']);

  it('of the configuration are in the table of docs/configuration.md', () => {
    expect([...inConfig].filter((name) => !inTable.has(name) && !name.startsWith('OTEL_'))).toEqual([]);
  });

  it('of that table are those of the configuration, of Temporal or of OpenTelemetry', () => {
    const others = [...inTable].filter((name) => !inConfig.has(name));
    expect(others.filter((name) => !/^(TEMPORAL|OTEL)_/.test(name))).toEqual([]);
  });

  it('of the configuration and of the table reach the containers from .env', () => {
    const passed = namesIn(composeText, /\$\{([A-Z][A-Z0-9_]+):/g);
    const wanted = new Set([...inConfig, ...inTable]);
    expect([...wanted].filter((name) => !passed.has(name) && !notSet.has(name))).toEqual([]);
  });
});

describe('Dockerfile', () => {
  const lines = read('Dockerfile').split('\n');

  it('is built on the version of Node that the project installs, on Debian', () => {
    const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: Record<string, string> };
    expect(lines.find((line) => line.startsWith('FROM'))).toBe(
      `FROM node:${devDependencies['node']}-bookworm-slim AS base`,
    );
  });

  it('does not run as root, stops with SIGTERM, and has a health check', () => {
    expect(lines).toContain('USER node');
    expect(lines).toContain('STOPSIGNAL SIGTERM');
    expect(lines.some((line) => line.startsWith('HEALTHCHECK'))).toBe(true);
  });

  it('copies only files that exist', () => {
    const copied = lines
      .filter((line) => /^COPY (?!--from)/.test(line))
      .flatMap((line) => line.split(' ').slice(1, -1));
    expect(copied).not.toEqual([]);
    for (const source of copied) expect([source, existsSync(path.join(projectRoot, source))]).toEqual([source, true]);
  });
});
