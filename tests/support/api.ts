import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from '@jest/globals';
import type { RequestHandler } from 'express';
import { request as send, type Dispatcher } from 'undici';
import { createApp } from '../../api/app.ts';
import { createAuthenticatorOrm } from '../../api/http/authenticator.ts';
import { createHttpServer, serverLimitsOf } from '../../api/http/server.ts';
import { createEngagementRecorder } from '../../api/feedback/engagement-recorder.ts';
import { createOrm, type Orm } from '../../shared/domain/schema/orm.ts';
import { createProject, type ProjectKeys } from '../../shared/domain/projects/projects.ts';
import type { Project } from '../../shared/domain/projects/project.entity.ts';
import { trustDomain } from '../../shared/domain/domains/sender-domains.ts';
import { readEngagedEmails, recordEngagements, reviseEngagements } from '../../shared/domain/engagement/engagement.ts';
import { requestLimits } from '../../shared/database/session-limits.ts';
import { sql, type Em } from '../../shared/database/sql.ts';
import { query } from './rows.ts';
import type { Config } from '../../shared/platform/config.ts';
import { createLogger } from '../../shared/platform/logger.ts';
import { testConfig } from './config.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';

/** The domain every test project may send from. */
const TEST_DOMAIN = 'example.com';
const HITS_DRAIN_MS = 1_000;

interface TestRequest {
  /**
   * `secret` (the default) or `public` sends the key of the project, another text is itself the key, null sends none.
   */
  key?: 'secret' | 'public' | (string & {}) | null;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent unchanged instead of `body`, with the type of JSON unless it is a form. */
  raw?: string | Uint8Array<ArrayBuffer> | FormData;
  headers?: Record<string, string>;
}

export interface TestReply {
  status: number;
  headers: Headers;
  /** Parsed JSON, other content as text, undefined without content. Not typed, because tests check its shape. */
  body: any;
}

export interface TestProject {
  project: Project;
  keys: ProjectKeys;
  /** Calls the API with the keys of this project. */
  api: (method: string, path: string, request?: TestRequest) => Promise<TestReply>;
}

export interface TestApi extends TestProject {
  /** Where the API listens, without a slash at the end. */
  url: string;
  database: TestDatabase;
  /** The ORM of the API itself. */
  orm: Orm;
  /** A new entity manager on the same database, for preparing and checking. */
  em: () => Em;
  config: Config;
  /** Another project with keys and the trusted domain, on the same API. */
  createProject: () => Promise<TestProject>;
  stop: () => Promise<void>;
}

export interface TestApiOptions {
  config?: Partial<Config>;
  /** The database of another instance, which stays when this one stops. */
  database?: TestDatabase;
  /** The URL of a proxy that the test can cut; the test itself uses the database directly. */
  databaseUrl?: string;
  /** Sees every request. */
  observe?: RequestHandler;
}

async function call(url: string, keys: ProjectKeys, method: string, request: TestRequest): Promise<TestReply> {
  const headers = new Headers({ accept: '*/*', 'user-agent': 'node' });
  const { key = 'secret' } = request;
  if (key !== null) {
    const token = key === 'secret' ? keys.secretKey : key === 'public' ? keys.publicKey : key;
    headers.set('authorization', `Bearer ${token}`);
  }
  const body = request.raw ?? (request.body === undefined ? undefined : JSON.stringify(request.body));
  if (body !== undefined && !(body instanceof FormData)) headers.set('content-type', 'application/json');
  for (const [name, value] of Object.entries(request.headers ?? {})) headers.set(name, value);
  // `fetch` takes twice the CPU.
  const response = await send(url, {
    method,
    headers: Object.fromEntries(headers),
    body: body as Dispatcher.DispatchOptions['body'],
  });
  const text = await response.body.text();
  const answered = new Headers(response.headers as Record<string, string>);
  const isJson = /json(?!l)/.test(answered.get('content-type') ?? '');
  return {
    status: response.statusCode,
    headers: answered,
    body: text === '' ? undefined : isJson ? JSON.parse(text) : text,
  };
}

/** Calls the API that listens at `url` with the keys of a project. */
export function callsTo(url: string, keys: ProjectKeys): TestProject['api'] {
  return (method, path, request = {}) => call(`${url}${path}`, keys, method.toUpperCase(), request);
}

/** Creates a project that may send from the test domain. Its calls go to the API at `url`. */
export async function createTestProject(em: Em, url: string): Promise<TestProject> {
  const { project, keys } = await createProject(em, 'Test');
  await trustDomain(em, project.id, TEST_DOMAIN);
  return { project, keys, api: callsTo(url, keys) };
}

/** Checks that a request was refused because this field, and no other, is beyond a limit. */
export function expectTooBig(reply: TestReply, field: string): void {
  expect([reply.status, reply.body.error?.code]).toEqual([422, 'VALIDATION_ERROR']);
  expect(reply.body.error.errors).toEqual([expect.objectContaining({ field, code: 'too_big' })]);
}

async function stopServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}

/**
 * Starts the API in this process, on a free port and a database of its own with one project. Nothing dispatches the
 * outbox, so its rows stay visible to the test.
 */
export async function startTestApi(options: TestApiOptions = {}): Promise<TestApi> {
  const database = options.database ?? (await createTestDatabase());
  const config = testConfig({ DATABASE_URL: options.databaseUrl ?? database.url, ...options.config });
  const orm =
    options.databaseUrl === undefined
      ? database.orm
      : await createOrm({
          databaseUrl: options.databaseUrl,
          poolSize: config.DATABASE_POOL_SIZE,
          applicationName: 'everpost-test-api',
          limits: requestLimits(config.API_STATEMENT_TIMEOUT_SECONDS),
        });
  const logger = createLogger({ level: config.LOG_LEVEL, name: 'api' });
  const engagements = createEngagementRecorder({
    logger,
    emailsOf: (emailIds) => readEngagedEmails(orm.em.fork(), emailIds),
    record: (batch, lockMs) => recordEngagements(orm.em.fork(), batch, lockMs),
    revise: (batch, lockMs) => reviseEngagements(orm.em.fork(), batch, lockMs),
  });
  const authenticatorOrm = await createAuthenticatorOrm({
    databaseUrl: config.DATABASE_URL,
    applicationName: 'everpost-test-api',
  });
  const { app } = createApp(
    { config, orm, authenticatorOrm, logger, engagements },
    { database: async () => void (await query(orm.em.fork(), sql`select 1`)) },
    options.observe,
  );
  const server = createHttpServer(app, serverLimitsOf(config, logger));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    ...(await createTestProject(database.orm.em.fork(), url)),
    url,
    database,
    orm,
    em: () => database.orm.em.fork(),
    config,
    createProject: () => createTestProject(database.orm.em.fork(), url),
    async stop() {
      await stopServer(server);
      await engagements.drain(HITS_DRAIN_MS);
      await authenticatorOrm.close();
      if (orm !== database.orm) await orm.close();
      if (!options.database) await database.drop();
    },
  };
}
