import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { runCli } from '../cli/run-cli.ts';
import { createSendingIdentities } from '../shared/domain/domains/sending-identities.ts';
import { createSenderDomain } from '../shared/domain/domains/sender-domains.ts';
import { readWebhookSecret } from '../shared/domain/projects/projects.ts';
import { createWebhookSecrets } from '../shared/domain/projects/webhook-secrets.ts';
import { assertKnownSecret } from '../shared/domain/secrets/known-secrets.ts';
import { sql } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import { createLinkSigner } from '../shared/sending/compose/links.ts';
import { createDkimKeyring } from '../shared/sending/compose/dkim/key-pair.ts';
import { startTestApi, type TestApi } from './support/api.ts';

const OLD = 'the old secret of a test, long enough';
const NEW = 'the new secret of a test, long enough';
const LOST = 'a secret nobody remembers, long enough';
const DOMAIN = 'signed.test';

let before: TestApi;
let after: TestApi;
let webhookSecret: string;
let endpoint: { id: string; secrets: string[] };
beforeAll(async () => {
  before = await startTestApi({ config: { APP_SECRET: OLD } });
  await assertKnownSecret(before.em(), { appSecret: OLD });
  await createSenderDomain(before.em(), createDkimKeyring(OLD), {
    projectId: before.project.id,
    domain: DOMAIN,
    returnPath: false,
  });
  await query(before.em(), sql`update sender_domain set verified = true, dns_verified = true where domain = ${DOMAIN}`);
  webhookSecret = await readWebhookSecret(before.em(), before.project.id);
  const { body: created } = await before.api('POST', '/webhooks', { body: { url: 'https://203.0.114.9/' } });
  const { body: rotated } = await before.api('POST', `/webhooks/${created.id}/rotate-secret`);
  endpoint = { id: created.id, secrets: [rotated.secret, created.secret] };
  const { database } = before;
  after = await startTestApi({ database, config: { APP_SECRET: NEW, APP_SECRETS_PREVIOUS: [OLD] } });
});
afterAll(async () => {
  await after.stop();
  await before.stop();
});

/** Runs an operator command with the secrets of an environment. */
async function everpost(args: string[], secrets: NodeJS.ProcessEnv) {
  let [out, error] = ['', ''];
  const exitCode = await runCli(args, {
    environment: { DATABASE_URL: before.database.url, ...secrets },
    writeOut: (text) => (out += text),
    writeError: (text) => (error += text),
  });
  return { exitCode, out, error };
}
const reseal = async (secrets: NodeJS.ProcessEnv) => {
  const { exitCode, out, error } = await everpost(['secrets', 'reseal', '--json'], secrets);
  return { exitCode, error, result: out === '' ? undefined : (JSON.parse(out) as unknown) };
};

const canSign = async (appSecret: string, previousSecrets: string[] = []) => {
  const identities = createSendingIdentities(before.em, createDkimKeyring(appSecret, previousSecrets));
  return identities.identityOf(before.project.id, DOMAIN).then(
    ({ signer }) => signer !== undefined,
    () => false,
  );
};
const readSecret = (appSecret: string, previousSecrets: string[] = []) =>
  readWebhookSecret(before.em(), before.project.id, createWebhookSecrets({ appSecret, previousSecrets }));

async function unsubscribe(api: TestApi, url: string): Promise<number> {
  const reply = await fetch(url.replace(/^https?:\/\/[^/]+/, api.url), {
    method: 'POST',
    body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
  });
  return reply.status;
}

describe('a new APP_SECRET', () => {
  it('together with the old one keeps links of delivered email working, and keys readable', async () => {
    const { body } = await before.api('POST', '/contacts', { body: { email: 'ada@example.com' } });
    const contactId = body.id ?? body.data.id;
    const { unsubscribeUrl } = createLinkSigner({ appSecret: OLD, publicUrl: after.url }).recipientUrls({
      contactId,
      emailId: uuidV7(),
      projectId: before.project.id,
    });
    expect(await unsubscribe(after, unsubscribeUrl)).toBe(200);
    expect((await before.api('GET', `/contacts/${contactId}`)).body.subscribed).toBe(false);
    expect(await canSign(NEW, [OLD])).toBe(true);
    expect(await canSign(NEW)).toBe(false);
  });

  it('is accepted at the start of a process together with the old one, and refused alone', async () => {
    await expect(assertKnownSecret(before.em(), { appSecret: NEW })).rejects.toThrow('APP_SECRETS_PREVIOUS');
    await assertKnownSecret(before.em(), { appSecret: NEW, previousSecrets: [OLD] });
    await assertKnownSecret(before.em(), { appSecret: NEW });
  });

  it.each(['api', 'worker'])('that the database does not know ends the %s with one sentence', async (name) => {
    const main = fileURLToPath(new URL(`../${name}/main.ts`, import.meta.url));
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
        NODE_OPTIONS: '',
        LOG_LEVEL: 'error',
        PORT: '0',
        SMTP_URL: 'smtp://127.0.0.1:1',
        DATABASE_URL: before.database.url,
        APP_SECRET: LOST,
      },
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number];
    expect(code).toBe(1);
    expect(said).toMatch(/^APP_SECRET has never been used with this database/);
    expect(said).not.toMatch(/^\s+at /m);
  });
});

describe('everpost secrets reseal', () => {
  it('names the values that cannot be read, and fails', async () => {
    const { exitCode, result, error } = await reseal({ APP_SECRET: NEW });
    expect(exitCode).toBe(1);
    expect(result).toMatchObject({ isComplete: false, dkimKeys: { unreadable: [expect.any(String)] } });
    expect(error).toContain('APP_SECRETS_PREVIOUS');
  });

  it('seals everything, may be repeated, and makes the old secret unnecessary', async () => {
    const secrets = { APP_SECRET: NEW, APP_SECRETS_PREVIOUS: OLD.replace(',', '\\,') };
    expect(await reseal(secrets)).toMatchObject({
      exitCode: 0,
      error: '',
      result: { isComplete: true, dkimKeys: { resealed: 1, unchanged: 0, unreadable: [] } },
    });
    expect(await reseal(secrets)).toMatchObject({
      exitCode: 0,
      result: { dkimKeys: { resealed: 0, unchanged: 1 }, webhookSecrets: { resealed: 0, unchanged: 2 } },
    });
    expect(await canSign(NEW)).toBe(true);
    expect(await readSecret(NEW)).toBe(webhookSecret);
    const [stored] = await query(
      before.em(),
      sql`select array[secret, previous_secret] as secrets from webhook_endpoint where id = ${endpoint.id}`,
    );
    const { open } = createWebhookSecrets({ appSecret: NEW });
    expect(stored?.secrets.map((sealed: string) => open(sealed, endpoint.id))).toEqual(endpoint.secrets);
    await expect(readSecret(OLD)).rejects.toThrow('APP_SECRET');
    await expect(assertKnownSecret(before.em(), { appSecret: OLD })).rejects.toThrow(
      'never been used with this database',
    );
  });

  it('does so for many values, also while they are being changed', async () => {
    await query(
      before.em(),
      sql`
        insert into project (id, name, public_key, secret_key_hash, created_at, updated_at)
        select gen_random_uuid(), 'P' || n, 'pk_' || n, 'hash ' || n, now(), now() from generate_series(1, 250) n`,
    );
    const [first, second] = await Promise.all(
      [1, 2].map(() => reseal({ APP_SECRET: NEW, APP_SECRETS_PREVIOUS: OLD.replace(',', '\\,') })),
    );
    expect([first, second]).toEqual([1, 2].map(() => expect.objectContaining({ exitCode: 0, error: '' })));
    const [row] = await query(before.em(), sql`select count(*) from project where webhook_secret not like 'sealed:%'`);
    expect(row?.count).toBe(0);
  });

  it('requires an APP_SECRET that the database knows', async () => {
    expect(await reseal({})).toMatchObject({ exitCode: 1, error: expect.stringContaining('APP_SECRET is required') });
    expect(await reseal({ APP_SECRET: LOST })).toMatchObject({ exitCode: 1, result: undefined });
    expect(await reseal({ APP_SECRET: 'short' })).toMatchObject({
      exitCode: 1,
      error: expect.stringContaining('at least 32 characters'),
    });
  });
});

describe('commands that read or replace a webhook secret', () => {
  const command = ['project', 'webhook-secret'];

  it('unseal it with the APP_SECRET of the environment, and say so when they cannot', async () => {
    const { id } = before.project;
    expect((await everpost([...command, id], { APP_SECRET: NEW })).out).toBe(`${webhookSecret}\n`);
    expect(await everpost([...command, id], {})).toMatchObject({
      exitCode: 1,
      error: expect.stringContaining('cannot be read: APP_SECRET'),
    });
    const { out } = await everpost([...command, id, '--rotate'], { APP_SECRET: NEW });
    expect(await readSecret(NEW)).toBe(out.trim());
    expect(out.trim()).not.toBe(webhookSecret);
  });

  it('seal the secret of a new project', async () => {
    const { out } = await everpost(['project', 'create', '--name', 'Sealed', '--json'], { APP_SECRET: NEW });
    const [row] = await query(
      before.em(),
      sql`select webhook_secret as stored from project where id = ${(JSON.parse(out) as { id: string }).id}`,
    );
    expect(row?.stored).toMatch(/^sealed:/);
  });
});

describe('everpost secrets adopt', () => {
  it('lets processes start when the old secret is lost', async () => {
    const secrets = { appSecret: LOST };
    await expect(assertKnownSecret(before.em(), secrets)).rejects.toThrow('secrets adopt');
    expect((await everpost(['secrets', 'adopt', '--json'], { APP_SECRET: LOST })).out).toBe('{"adopted":true}\n');
    await assertKnownSecret(before.em(), secrets);
  });
});
