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

  it('are checked as those of the processes', () => {
    const servers = contextIn({ DNS_SERVERS: '192.0.2.1, [2001:db8::1]:53' }).dnsServers();
    expect(servers).toEqual(['192.0.2.1', '[2001:db8::1]:53']);
    expect(() => contextIn({ DNS_SERVERS: 'one' }).dnsServers()).toThrow(/^DNS_SERVERS: /);
    expect(contextIn({ INBOUND_DOMAIN: ' Mail.Example.com ' }).inboundDomain()).toBe('mail.example.com');
  });
});
