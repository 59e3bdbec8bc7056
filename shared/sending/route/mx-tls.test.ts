import { describe, expect, it } from '@jest/globals';
import { createTestAuthority, createTestCertificate } from '../../../tests/support/certificate.ts';
import { tlsaFor } from '../../../tests/support/mail-hosts.ts';
import { stsPolicy, useMailWorld } from '../../../tests/support/mx-pools.ts';
import { parseSmtpUrl } from '../transport/smtp-url.ts';
import { openByDemand, type TlsSessionResult } from './tls-session.ts';

const { world, noted, poolOf, send, fresh } = useMailWorld();

describe('TLS', () => {
  it('is used where it is offered, whatever the certificate', async () => {
    const domain = fresh();
    const secured: string[] = [];
    await world().host(domain, {
      certificate: createTestCertificate('somewhere.else.test'),
      extensions: (_connection, isSecure) => (isSecure ? ['PIPELINING'] : ['STARTTLS']),
      fault({ step, to }) {
        if (step === 'starttls') secured.push(to);
        return undefined;
      },
    });
    expect(await send(poolOf(), `a@${domain}`)).toMatchObject({ kind: 'accepted' });
    expect(secured).toHaveLength(1);
  });

  it('is used with an expired certificate where nothing requires a valid one, and reported as a success', async () => {
    const domain = fresh();
    await world().host(domain, { certificate: world().authority.issue(domain, [-9, -2]) });
    world().dns.set(`_smtp._tls.${domain}`, { TXT: ['v=TLSRPTv1; rua=mailto:a@b.test'] });
    expect(await send(poolOf(), `a@${domain}`)).toMatchObject({ kind: 'accepted' });
    expect(noted).toEqual([`${domain} success`]);
  });

  it('is left out where its handshake fails and nothing requires it, from then on at once', async () => {
    const domain = fresh();
    const host = await world().host(domain, { tls: true, certificate: { key: '', cert: '' } });
    const pool = poolOf();
    expect(await send(pool, `a@${domain}`)).toMatchObject({ kind: 'accepted' });
    expect(host.connectionCount()).toBe(2);
  });

  it('is reported as failed for each session in clear after its handshake failed', async () => {
    const domain = fresh();
    const closes = ({ step }: { step: string }) => (step === 'end' ? 'close' : undefined);
    const host = await world().host(domain, { tls: true, certificate: { key: '', cert: '' }, fault: closes });
    world().dns.set(`_smtp._tls.${domain}`, { TXT: ['v=TLSRPTv1; rua=mailto:a@b.test'] });
    const pool = poolOf();
    for (const name of ['a', 'b']) await send(pool, `${name}@${domain}`);
    expect(host.connectionCount()).toBe(3);
    expect(noted).toEqual([`${domain} validation-failure`, `${domain} validation-failure`]);
  });

  it.each([
    ['STARTTLS', 'starttls', 1],
    ['the EHLO after it', 'ehlo', 2],
  ])('is left out where the connection ends at %s', async (_name, at, time) => {
    const domain = fresh();
    let times = 0;
    const host = await world().host(domain, {
      tls: true,
      fault: ({ step }) => (step === at && (times += 1) === time ? 'close' : undefined),
    });
    expect(await send(poolOf(), `a@${domain}`)).toMatchObject({ kind: 'accepted' });
    expect(host.connectionCount()).toBe(2);
  });

  it('does not count as broken where the host cannot be connected to without it, either', async () => {
    const { port, address } = await world().host(fresh(), {
      tls: true,
      fault: ({ step, connection }) =>
        step === 'starttls' || (step === 'greeting' && connection === 2) ? 'close' : undefined,
    });
    const server = { ...parseSmtpUrl(`smtp://${address}:${port}`), startTls: 'attempted' } as const;
    const broken = new Map<string, TlsSessionResult>();
    const open = () =>
      openByDemand(server, { domain: 'x.test' }, new AbortController().signal, broken, () => undefined);
    await expect(open()).rejects.toThrow('closed the connection');
    expect(broken.size).toBe(0);
    const { socket } = await open();
    socket.destroy();
    expect(broken.size).toBe(1);
  });

  it.each(['TLSv1', 'TLSv1.1'] as const)('is used at the version %s, unless there is a policy', async (tlsVersion) => {
    const [domain, name] = [fresh(), fresh()];
    let isEncrypted = false;
    await world().host(name, {
      tls: true,
      tlsVersion,
      extensions: (_connection, isSecure) => {
        isEncrypted = isSecure;
        return isSecure ? [] : ['STARTTLS'];
      },
    });
    world().domain(domain, name);
    world().dns.set(`_smtp._tls.${domain}`, { TXT: ['v=TLSRPTv1; rua=mailto:a@b.test'] });
    const testing = poolOf({ sts: { [domain]: stsPolicy('testing', name) } });
    const enforced = poolOf({ sts: { [domain]: stsPolicy('enforce', name) } });
    for (const pool of [poolOf(), testing]) {
      expect(await send(pool, `a@${domain}`)).toMatchObject({ kind: 'accepted' });
      expect(isEncrypted).toBe(true);
    }
    expect(await send(enforced, `a@${domain}`)).toMatchObject({ kind: 'deferred', enhancedCode: '4.7.5' });
    expect(noted).toEqual([`${domain} success`, `${domain} validation-failure`, `${domain} validation-failure`]);
  });

  it('takes replies that come before Node tells that the content has left, over one connection', async () => {
    const domain = fresh();
    const host = await world().host(domain, { tls: true });
    const pool = poolOf({ maxConnections: 1 });
    const outcomes = await Promise.all(Array.from({ length: 300 }, (_, index) => send(pool, `${index}@${domain}`)));
    expect(outcomes.every(({ kind }) => kind === 'accepted')).toBe(true);
    expect(host.connectionCount()).toBe(1);
  });

  const bad: [string, (host: string) => object, string][] = [
    [
      'an expired certificate',
      (host) => ({ certificate: world().authority.issue(host, [-9, -2]) }),
      'certificate-expired',
    ],
    ['another name', () => ({ certificate: world().authority.issue('other.test') }), 'certificate-host-mismatch'],
    [
      'a name that is no DNS name',
      (host) => ({ certificate: world().authority.issueWithoutDnsNames(host) }),
      'certificate-host-mismatch',
    ],
    ['an unknown authority', (host) => ({ certificate: createTestAuthority().issue(host) }), 'certificate-not-trusted'],
    ['its own signature', (host) => ({ certificate: createTestCertificate(host) }), 'certificate-not-trusted'],
    ['no STARTTLS', () => ({}), 'starttls-not-supported'],
    [
      'STARTTLS that is refused',
      () => ({ tls: true, fault: ({ step }: { step: string }) => (step === 'starttls' ? '4xx' : undefined) }),
      'starttls-not-supported',
    ],
    ['a handshake that fails', () => ({ tls: true, certificate: { key: '', cert: '' } }), 'validation-failure'],
  ];

  it.each(bad)('is required by an MTA-STS policy, so %s defers the message', async (_name, options, type) => {
    const [domain, name] = [fresh(), fresh()];
    const host = await world().host(name, options(name));
    world().domain(domain, name);
    world().dns.set(`_smtp._tls.${domain}`, { TXT: ['v=TLSRPTv1; rua=mailto:a@b.test'] });
    const pool = poolOf({ sts: { [domain]: stsPolicy('enforce', name) } });
    expect(await send(pool, `a@${domain}`)).toMatchObject({ kind: 'deferred', enhancedCode: '4.7.5' });
    expect(host.attempts().size).toBe(0);
    expect(noted).toEqual([`${domain} ${type}`]);
    const testing = poolOf({ sts: { [domain]: stsPolicy('testing', name) } });
    expect(await send(testing, `a@${domain}`)).toMatchObject({ kind: 'accepted' });
    expect(noted).toEqual([`${domain} ${type}`, `${domain} ${type}`]);
  });

  it('lets a policy choose the hosts, and goes on to the next one where one is unfit', async () => {
    const [domain, unnamed, unfit, good] = [fresh(), fresh(), fresh(), `mx.${fresh()}`];
    const hosts = [await world().host(unnamed, { tls: true }), await world().host(unfit)];
    await world().host(good, { tls: true });
    world().domain(domain, [1, unnamed], [2, unfit], [3, good]);
    world().dns.set(`_smtp._tls.${domain}`, { TXT: ['v=TLSRPTv1; rua=mailto:a@b.test'] });
    const pool = poolOf({ sts: { [domain]: stsPolicy('enforce', unfit, `*.${good.slice(3)}`) } });
    expect(await send(pool, `a@${domain}`)).toMatchObject({ kind: 'accepted', server: good });
    expect(hosts[0]?.connectionCount()).toBe(0);
    expect(noted).toEqual([`${domain} starttls-not-supported`, `${domain} success`]);
    const none = poolOf({ sts: { [domain]: stsPolicy('enforce', 'nobody.test') } });
    expect(await send(none, `a@${domain}`)).toMatchObject({ kind: 'deferred', enhancedCode: '4.7.5' });
  });

  describe('with DANE', () => {
    it.each<[string, string, number, number]>([
      ['the key of the server', 'own', 3, 1],
      ['the certificate of the server', 'own', 3, 0],
      ['the authority', 'authority', 2, 0],
      ['the key of the authority', 'authority', 2, 1],
    ])('accepts a record that names %s', async (_name, whose, usage, selector) => {
      const [domain, name] = [fresh(), fresh()];
      const certificate = whose === 'own' ? createTestCertificate('anything.test') : world().authority.issue(name);
      await world().host(name, { certificate });
      world().domain(domain, name);
      const named = whose === 'own' ? certificate : world().authority;
      world().dns.set(`_${world().port}._tcp.${name}`, { TLSA: [tlsaFor(named, usage, selector)] });
      for (const each of [domain, name]) world().dns.behave(each, { isAuthentic: true });
      const pool = poolOf({ isValidating: true, authorities: createTestAuthority().cert });
      expect(await send(pool, `a@${domain}`)).toMatchObject({ kind: 'accepted' });
    });

    it.each<[string, object, string]>([
      ['another key', { certificate: createTestCertificate('x.test') }, 'validation-failure'],
      ['no STARTTLS', {}, 'starttls-not-supported'],
    ])(
      'defers where the host has %s, though the certificate would do for an MTA-STS policy',
      async (_name, options, type) => {
        const [domain, name] = [fresh(), fresh()];
        const host = await world().host(name, options);
        world().domain(domain, name);
        world().dns.set(`_smtp._tls.${domain}`, { TXT: ['v=TLSRPTv1; rua=mailto:a@b.test'] });
        world().dns.set(`_${world().port}._tcp.${name}`, { TLSA: [tlsaFor(createTestCertificate('y.test'), 3)] });
        for (const each of [domain, name]) world().dns.behave(each, { isAuthentic: true });
        const pool = poolOf({ isValidating: true, sts: { [domain]: stsPolicy('testing', name) } });
        expect(await send(pool, `a@${domain}`)).toMatchObject({ kind: 'deferred', enhancedCode: '4.7.5' });
        expect(host.attempts().size).toBe(0);
        expect(noted).toEqual([`${domain} ${type}`]);
      },
    );

    it.each<[string, readonly [number, number] | undefined, 2 | 3, string]>([
      ['for an authority refuses another name', undefined, 2, 'certificate-host-mismatch'],
      ['for an authority refuses an expired certificate', [-9, -2], 2, 'certificate-expired'],
      ['for an authority refuses a certificate of tomorrow', [1, 3], 2, 'certificate-expired'],
      ['for the key of the server takes an expired certificate', [-9, -2], 3, 'success'],
    ])('a record %s', async (_name, days, usage, type) => {
      const [domain, name] = [fresh(), fresh()];
      const { authority, dns } = world();
      const certificate = days ? authority.issue(name, days) : authority.issue('wrong.test');
      await world().host(name, { certificate });
      world().domain(domain, name);
      dns.set(`_smtp._tls.${domain}`, { TXT: ['v=TLSRPTv1; rua=mailto:a@b.test'] });
      dns.set(`_${world().port}._tcp.${name}`, {
        TLSA: [usage === 2 ? tlsaFor(authority, 2, 0) : tlsaFor(certificate, 3)],
      });
      for (const each of [domain, name]) dns.behave(each, { isAuthentic: true });
      const outcome = await send(poolOf({ isValidating: true }), `a@${domain}`);
      expect(outcome).toMatchObject(type === 'success' ? { kind: 'accepted' } : { enhancedCode: '4.7.5' });
      expect(noted).toEqual([`${domain} ${type}`]);
    });

    it('takes the common name of a certificate without DNS names, for an authority', async () => {
      const { authority, dns, port } = world();
      const [domain, name, other] = [fresh(), fresh(), fresh()];
      const ways: [string, string][] = [
        [name, 'accepted'],
        [other, 'deferred'],
      ];
      for (const [host, kind] of ways) {
        await world().host(host, { certificate: authority.issueWithoutDnsNames(name) });
        world().domain(domain, host);
        dns.set(`_${port}._tcp.${host}`, { TLSA: [tlsaFor(authority, 2, 0)] });
        for (const each of [domain, host]) dns.behave(each, { isAuthentic: true });
        expect(await send(poolOf({ isValidating: true }), `a@${domain}`)).toMatchObject({ kind });
      }
    });

    it.each([
      ['ignores a weaker digest beside a stronger one', 1, 'deferred'],
      ['takes a digest of another selector beside a stronger one', 0, 'accepted'],
    ])('%s', async (_name, selector, kind) => {
      const [domain, name] = [fresh(), fresh()];
      const certificate = createTestCertificate('anything.test');
      await world().host(name, { certificate });
      world().domain(domain, name);
      const stale = tlsaFor(createTestCertificate('old.test'), 3, 1, 2);
      world().dns.set(`_${world().port}._tcp.${name}`, { TLSA: [tlsaFor(certificate, 3, selector), stale] });
      for (const each of [domain, name]) world().dns.behave(each, { isAuthentic: true });
      expect(await send(poolOf({ isValidating: true }), `a@${domain}`)).toMatchObject({ kind });
    });

    const wrongUsage = () => tlsaFor(createTestCertificate('y.test'), 1);
    const notThatKey = () => ({ usage: 3, selector: 1, matchingType: 0, certificate: Buffer.from('no key') });
    const notThatCertificate = () => ({ ...notThatKey(), selector: 0 });
    it.each([
      ['of another usage', wrongUsage],
      ['with a key that is none', notThatKey],
      ['with a certificate that is none', notThatCertificate],
    ])('requires TLS, and no certificate, with records that cannot be used: %s', async (_name, record) => {
      for (const [options, kind] of [
        [{ certificate: createTestCertificate('x.test') }, 'accepted'],
        [{}, 'deferred'],
      ] as const) {
        const [domain, name] = [fresh(), fresh()];
        await world().host(name, options);
        world().domain(domain, name);
        world().dns.set(`_${world().port}._tcp.${name}`, {
          TLSA: [record()],
        });
        for (const each of [domain, name]) world().dns.behave(each, { isAuthentic: true });
        expect(await send(poolOf({ isValidating: true }), `a@${domain}`)).toMatchObject({ kind });
      }
    });

    it('ignores records that nothing proves, and does not use a host whose records DNS withholds', async () => {
      const [domain, name] = [fresh(), fresh()];
      await world().host(name, { tls: true });
      world().domain(domain, name);
      world().dns.set(`_${world().port}._tcp.${name}`, { TLSA: [tlsaFor(createTestCertificate('y.test'), 3)] });
      expect(await send(poolOf({ isValidating: true }), `a@${domain}`)).toMatchObject({ kind: 'accepted' });
      for (const each of [domain, name]) world().dns.behave(each, { isAuthentic: true });
      expect(await send(poolOf(), `a@${domain}`)).toMatchObject({ kind: 'accepted' });
      world().dns.behave(`_${world().port}._tcp.${name}`, { rcode: 'SERVFAIL' });
      expect(await send(poolOf({ isValidating: true }), `a@${domain}`)).toMatchObject({
        kind: 'deferred',
        enhancedCode: '4.4.3',
        reply: expect.stringContaining(`no answer about the TLSA records of the mail hosts of ${domain}`),
      });
    });

    it('reports records that DNS withholds, also where another host takes the mail', async () => {
      const [domain, withheld, other] = [fresh(), fresh(), fresh()];
      const hosts = [withheld, other];
      for (const name of hosts) await world().host(name, { tls: true });
      world().domain(domain, ...hosts);
      world().dns.set(`_smtp._tls.${domain}`, { TXT: ['v=TLSRPTv1; rua=mailto:a@b.test'] });
      for (const each of [domain, ...hosts]) world().dns.behave(each, { isAuthentic: true });
      world().dns.behave(`_${world().port}._tcp.${withheld}`, { rcode: 'SERVFAIL' });
      expect(await send(poolOf({ isValidating: true }), `a@${domain}`)).toMatchObject({ kind: 'accepted' });
      expect(noted).toEqual([`${domain} dnssec-invalid`, `${domain} success`]);
      world().dns.behave(`_${world().port}._tcp.${other}`, { rcode: 'SERVFAIL' });
      expect(await send(poolOf({ isValidating: true }), `a@${domain}`)).toMatchObject({ kind: 'deferred' });
      expect(noted.slice(2)).toEqual([`${domain} dnssec-invalid`, `${domain} dnssec-invalid`]);
    });
  });
});
