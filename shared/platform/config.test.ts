import { describe, expect, it } from '@jest/globals';
import { publicUrlWarning, readConfig, readVariable } from './config.ts';

it.each([
  ['https://mail.example.com', false],
  ['http://mail.example.com', true],
  ['http://10.0.0.1:3000', true],
  ['http://localhost:3000', false],
  ['http://127.0.0.1:3000', false],
  ['http://[::1]:3000', false],
])('a warning about links below %s is given: %s', (publicUrl, hasWarning) => {
  expect(publicUrlWarning({ publicUrl }) !== undefined).toBe(hasWarning);
});

const required = {
  DATABASE_URL: 'postgres://localhost/everpost',
  APP_SECRET: 'a secret of at least 32 characters',
};

describe('the port of the API', () => {
  it.each([
    [{}, 3000],
    [{ PORT: '' }, 3000],
    [{ PORT: '0' }, 0],
    [{ PORT: '65535' }, 65_535],
  ])('in %j is %d', (environment, port) => expect(readVariable('PORT', environment)).toBe(port));

  it.each(['abc', '65536', '-1', '3000.5', '3e3', '127.0.0.1:3000'])('cannot be %s', (PORT) => {
    const refused = 'PORT: Must be a number from 0 to 65535';
    expect(() => readVariable('PORT', { PORT })).toThrow(refused);
    expect(() => readConfig({ ...required, PORT })).toThrow(refused);
  });
});

describe('the mark of new keys', () => {
  it.each([
    [{}, undefined],
    [{ KEY_MARK: '' }, undefined],
    [{ KEY_MARK: 'eu1' }, 'eu1'],
    [{ KEY_MARK: '12345678' }, '12345678'],
  ])('in %j is %s', (environment, mark) => {
    expect(readVariable('KEY_MARK', environment)).toBe(mark);
    expect(readConfig({ ...required, ...environment }).KEY_MARK).toBe(mark);
  });

  it.each(['EU', 'eu_1', 'eu-1', ' eu', 'é', '123456789'])('cannot be %s', (KEY_MARK) => {
    const refused = 'KEY_MARK: takes 1 to 8 lower-case letters and digits';
    expect(() => readVariable('KEY_MARK', { KEY_MARK })).toThrow(refused);
    expect(() => readConfig({ ...required, KEY_MARK })).toThrow(refused);
  });
});

it.each([
  [{}, 'DATABASE_URL: is required, for example postgres://'],
  [{ DATABASE_URL: 'mysql://localhost' }, 'DATABASE_URL: must begin with postgres://'],
])('a command that needs the database names the fault of %j', (environment, message) => {
  expect(() => readVariable('DATABASE_URL', environment)).toThrow(message);
});

it.each([
  [{ DNS_SERVERS: 'localhost:53' }, 'DNS_SERVERS: must be addresses such as 192.0.2.53 or 192.0.2.53:5353'],
  [{ DNS_SERVERS: '192.0.2.53:0' }, 'DNS_SERVERS: must be addresses'],
  [{ DNSSEC_SERVERS: '2001:db8::1,[2001:db8::1' }, 'DNSSEC_SERVERS: must be addresses'],
  [{ DNS_BLOCKLISTS: 'https://zen.example.org' }, 'DNS_BLOCKLISTS: must be domain names such as zen.example.org'],
  [{ ADMIN_HOSTS: 'https://a.test' }, 'ADMIN_HOSTS: must be host names such as mail-admin.example.com'],
])('a list of hosts is refused where it names none: %j', (environment, message) => {
  expect(() => readConfig({ ...required, ...environment })).toThrow(message);
});

it('name servers may have ports, and blocklists several labels', () => {
  const DNS_SERVERS = '192.0.2.53, 192.0.2.54:5353,2001:db8::1,[2001:db8::1]:5353';
  const config = readConfig({ ...required, DNS_SERVERS, DNS_BLOCKLISTS: 'zen.example.org,b.test' });
  expect([config.DNS_SERVERS.length, config.DNS_BLOCKLISTS]).toEqual([4, ['zen.example.org', 'b.test']]);
});

describe('the version of workers', () => {
  it.each([
    [{ WORKER_DEPLOYMENT: 'everpost' }, 'WORKER_BUILD_ID: is required together with WORKER_DEPLOYMENT'],
    [{ WORKER_BUILD_ID: '1.4.0' }, 'WORKER_DEPLOYMENT: is required together with WORKER_BUILD_ID'],
    [{ WORKER_DEPLOYMENT: 'ever.post', WORKER_BUILD_ID: '1.4.0' }, 'WORKER_DEPLOYMENT: takes letters'],
    [{ WORKER_DEPLOYMENT: 'everpost', WORKER_BUILD_ID: 'v1:4' }, 'WORKER_BUILD_ID: takes letters'],
  ])('%j is refused', (version, message) => {
    expect(() => readConfig({ ...required, ...version })).toThrow(message);
  });

  it('consists of a name and a build', () => {
    const version = { WORKER_DEPLOYMENT: 'everpost', WORKER_BUILD_ID: '1.4.0-rc.1+7' };
    expect(readConfig({ ...required, ...version })).toMatchObject(version);
  });
});

describe('OPERATOR_EMAIL', () => {
  const environment = { ...required, INBOUND_DOMAIN: 'In.Everpost.test' };

  it.each(['ops@in.everpost.test', 'ops@IN.everpost.TEST', 'ops@bounce.shop.test', 'no address'])(
    'cannot be %s, which is no address or would bring forwarded mail back',
    (OPERATOR_EMAIL) => {
      expect(() => readConfig({ ...environment, OPERATOR_EMAIL })).toThrow('OPERATOR_EMAIL');
    },
  );

  it('can be any other address', () => {
    const config = readConfig({ ...environment, OPERATOR_EMAIL: 'Ops@Everpost.test' });
    expect(config.OPERATOR_EMAIL).toBe('ops@everpost.test');
  });
});

it('SUBMISSION_TLS_PORT needs a certificate', () => {
  expect(() => readConfig({ ...required, SUBMISSION_TLS_PORT: '465' })).toThrow(
    'SUBMISSION_TLS_CERT_FILE: is required together with SUBMISSION_TLS_PORT',
  );
});

it.each([
  [{}, 'https://mail.example.com'],
  [{ ADMIN_HOSTS: 'admin.example.com,mail.example.com' }, 'https://mail.example.com'],
  [{ ADMIN_HOSTS: 'admin.example.com,else.example.com' }, 'https://admin.example.com'],
])('with %j, the API is at %s', (hosts, apiUrl) => {
  const config = readConfig({ ...required, PUBLIC_URL: 'https://mail.example.com/', ...hosts });
  expect(config).toMatchObject({ publicUrl: 'https://mail.example.com', apiUrl });
});
