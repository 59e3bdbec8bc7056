import { describe, expect, it } from '@jest/globals';
import type { Lookup } from '../../platform/dns/lookups.ts';
import { createStsPolicies, namesHost, parsePolicy, type FetchedText, type StsPolicy } from './mta-sts.ts';

const TEXT = 'version: STSv1\r\nmode: enforce\r\nmx: mx.example.com\r\nmx: *.example.net\r\nmax_age: 86400\r\n';
const DAY_MS = 86_400_000;

/** The policies of one domain, whose record and text a test changes, and a clock that it moves. */
function world() {
  const state = {
    now: 1_000_000,
    records: ['v=STSv1; id=one;'] as string[] | 'failed',
    fetched: { text: TEXT } as FetchedText,
    fetches: 0,
    stored: new Map<string, StsPolicy>(),
  };
  const answer = (): Lookup<string> => {
    if (state.records === 'failed') return { kind: 'failed', reason: 'x', isAuthentic: false };
    if (state.records.length === 0) return { kind: 'absent', isNameUnknown: true, isAuthentic: false };
    return { kind: 'found', records: state.records, name: '', isAuthentic: false };
  };
  const create = () =>
    createStsPolicies({
      lookUp: () => Promise.resolve(answer() as Lookup<never>),
      fetchText() {
        state.fetches += 1;
        return Promise.resolve(state.fetched);
      },
      store: {
        find: (domain) => Promise.resolve(state.stored.get(domain)),
        save: (domain, policy) => Promise.resolve(void state.stored.set(domain, policy)),
      },
      now: () => state.now,
    });
  return { state, create };
}

describe('the text of a policy', () => {
  it('is read with CRLF or LF, whatever else it has, and the first of several keys counts', () => {
    const text = TEXT.replaceAll('\r\n', '\n') + 'mode: none\nx-more: 1\n';
    const policy = parsePolicy(text, 'one', 0);
    expect(policy).toMatchObject({ id: 'one', mode: 'enforce', mx: ['mx.example.com', '*.example.net'] });
    expect(policy?.expiresAt).toEqual(new Date(DAY_MS));
    expect(parsePolicy('version: STSv1\nmode: none\nmax_age: 0', 'one', 0)).toMatchObject({ mode: 'none', mx: [] });
  });

  it.each([
    '',
    'mode: enforce\nmx: a.test\nmax_age: 1',
    'version: STSv2\nmode: enforce\nmx: a.test\nmax_age: 1',
    'version: STSv1\nmode: strict\nmx: a.test\nmax_age: 1',
    'version: STSv1\nmode: enforce\nmax_age: 1',
    'version: STSv1\nmode: enforce\nmx: a.test',
    'version: STSv1\nmode: enforce\nmx: a.test\nmax_age: 99999999',
    'version: STSv1\nmode: enforce\nmx: a.*.test\nmax_age: 1',
    '<html>\nversion: STSv1\nmode: enforce\nmx: a.test\nmax_age: 1',
  ])('is none: %j', (text) => {
    expect(parsePolicy(text, 'one', 0)).toBeUndefined();
  });

  it('names hosts by whole names, or by one label more', () => {
    const policy = { mx: ['mx.example.com', '*.example.net'] };
    expect(['MX.example.com', 'a.example.net'].map((host) => namesHost(policy, host))).toEqual([true, true]);
    for (const host of ['example.net', 'a.b.example.net', 'x.mx.example.com', 'aexample.net']) {
      expect(namesHost(policy, host)).toBe(false);
    }
    expect(namesHost({ mx: ['*.test'] }, 'test')).toBe(false);
  });
});

describe('the policy of a domain', () => {
  it('is fetched once, and again when its id changes or a day has passed', async () => {
    const { state, create } = world();
    const policies = create();
    for (let times = 0; times < 3; times += 1) await policies.find('a.test');
    expect(state.fetches).toBe(1);
    // Records that are about something else count for nothing (RFC 8461 section 3.1).
    state.records = ['v=spf1 -all', 'v=STSv1; id=two'];
    state.fetched = { text: TEXT.replace('enforce', 'testing') };
    expect((await policies.find('a.test')).policy?.mode).toBe('testing');
    state.now += DAY_MS - 1;
    await policies.find('a.test');
    expect(state.fetches).toBe(2);
  });

  it('holds through every failure until it expires, also after a restart', async () => {
    const { state, create } = world();
    await create().find('a.test');
    const broken: (() => void)[] = [
      () => (state.records = []),
      () => (state.records = 'failed'),
      () => (state.records = ['v=STSv1; id=a', 'v=STSv1; id=b']),
      () => {
        state.records = ['v=STSv1; id=three'];
        state.fetched = { fault: 'sts-policy-fetch-error', reason: 'x' };
      },
      () => (state.fetched = { text: 'nonsense' }),
    ];
    for (const fail of broken) {
      fail();
      expect((await create().find('a.test')).policy).toMatchObject({ id: 'one', mode: 'enforce' });
    }
    state.now += DAY_MS + 1;
    expect(await create().find('a.test')).toMatchObject({ fault: { type: 'sts-policy-invalid' } });
    expect((await create().find('a.test')).policy).toBeUndefined();
  });

  it('is not fetched again for five minutes after a failure, and tells the failure', async () => {
    const { state, create } = world();
    state.fetched = { fault: 'sts-webpki-invalid', reason: 'CERT_HAS_EXPIRED' };
    const policies = create();
    for (let times = 0; times < 3; times += 1) {
      expect(await policies.find('a.test')).toEqual({
        fault: { type: 'sts-webpki-invalid', reason: 'CERT_HAS_EXPIRED' },
      });
    }
    expect(state.fetches).toBe(1);
    state.now += 300_001;
    state.fetched = { text: TEXT };
    expect((await policies.find('a.test')).policy?.mode).toBe('enforce');
  });

  it('is none without a record, with a record that is not one, and with the mode none', async () => {
    const { state, create } = world();
    for (const records of [[], ['v=spf1 -all'], ['v=STSv1; id=with-dash'], ['v=STSv1;']]) {
      state.records = records;
      expect(await create().find('a.test')).toEqual({});
    }
    expect(state.fetches).toBe(0);
    state.records = ['v=STSv1; id=one'];
    state.fetched = { text: 'version: STSv1\nmode: none\nmax_age: 60' };
    expect(await create().find('a.test')).toEqual({});
  });
});
