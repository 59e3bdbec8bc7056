import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createCliContext } from './context.ts';

describe('the variables that commands read', () => {
  const DATABASE_URL = 'postgres://127.0.0.1/everpost';
  const [secret, earlier] = ['s'.repeat(32), 'e'.repeat(32)];
  let home: string;
  beforeAll(() => {
    home = mkdtempSync(path.join(tmpdir(), 'everpost-cli-'));
    writeFileSync(path.join(home, 'app-secret'), secret);
  });
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  const print = (): void => undefined;
  const contextIn = (environment: NodeJS.ProcessEnv) =>
    createCliContext({ environment: { EVERPOST_HOME: home, ...environment }, writeOut: print, writeError: print });

  it('are earlier secrets, also beside the secret of the local stack', () => {
    const secrets = { appSecret: secret, previousSecrets: [earlier] };
    expect(contextIn({ APP_SECRETS_PREVIOUS: earlier }).appSecrets()).toEqual(secrets);
    expect(contextIn({ APP_SECRETS_PREVIOUS: earlier, DATABASE_URL }).appSecrets()).toBeUndefined();
  });

  it('are those of the running local stack where the command is given none', () => {
    const [INBOUND_DOMAIN, SHAPING_FILE, own] = ['in.example.com', 'shaping.json', 'o'.repeat(32)];
    const variables = { DATABASE_URL, APP_SECRET: own, INBOUND_DOMAIN, SHAPING_FILE };
    const file = path.join(home, 'runtime.json');
    writeFileSync(file, JSON.stringify({ temporalAddress: '127.0.0.1:7233', variables }));

    expect(contextIn({}).inboundDomain()).toBe(INBOUND_DOMAIN);
    expect(contextIn({}).environment()).toMatchObject(variables);
    expect(contextIn({}).appSecrets()).toEqual({ appSecret: own, previousSecrets: [] });
    expect(contextIn({ SHAPING_FILE: 'other.json' }).environment()).toMatchObject({ SHAPING_FILE: 'other.json' });
    // Another database is no part of the local stack.
    expect(contextIn({ DATABASE_URL }).inboundDomain()).toBeUndefined();
    rmSync(file);
  });

  it('are checked as those of the processes', () => {
    const servers = contextIn({ DNS_SERVERS: '192.0.2.1, [2001:db8::1]:53' }).dnsServers();
    expect(servers).toEqual(['192.0.2.1', '[2001:db8::1]:53']);
    expect(() => contextIn({ DNS_SERVERS: 'one' }).dnsServers()).toThrow(/^DNS_SERVERS: /);
    expect(contextIn({ INBOUND_DOMAIN: ' Mail.Example.com ' }).inboundDomain()).toBe('mail.example.com');
  });
});
