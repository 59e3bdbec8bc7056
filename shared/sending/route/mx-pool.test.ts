import { describe, expect, it } from '@jest/globals';
import { createFaultyRelay } from '../../../tests/support/faulty-relay.ts';
import { useMailWorld } from '../../../tests/support/mx-pools.ts';
import { NoWayError, SmtpUnavailableError } from '../transport/errors.ts';
import { Utf8NotOfferedError } from '../transport/wire-address.ts';
import { judgeOutcome } from '../verdict/judge-refusal.ts';

const { world, poolOf, send, fresh } = useMailWorld();

describe('the hosts of a domain', () => {
  it('gets a message to the host with the lowest preference, over one connection for several', async () => {
    const [domain, best, other] = [fresh(), fresh(), fresh()];
    const [first, second] = [await world().host(best), await world().host(other)];
    world().domain(domain, [20, other], [10, best]);
    const pool = poolOf();
    for (const name of ['a', 'b']) {
      expect(await send(pool, `${name}@${domain}`)).toMatchObject({
        kind: 'accepted',
        server: best,
        relay: 'mail.everpost.test',
      });
    }
    expect([first.connectionCount(), second.connectionCount()]).toEqual([1, 0]);
    expect(pool.relays()[0]).toMatchObject({ connections: 1, outcomes: { accepted: 2 } });
  });

  it('asks the next host when one cannot be connected to, and leaves that one alone for a while', async () => {
    const [domain, dead, busy, alive] = [fresh(), fresh(), fresh(), fresh()];
    world().dns.set(dead, { A: ['127.0.0.250'] });
    const greets = await world().host(busy, { fault: ({ step }) => (step === 'greeting' ? '421' : undefined) });
    await world().host(alive);
    world().domain(domain, [10, dead], [15, busy], [20, alive]);
    const pool = poolOf();
    for (const name of ['a', 'b'])
      expect(await send(pool, `${name}@${domain}`)).toMatchObject({ kind: 'accepted', server: alive });
    expect(greets.connectionCount()).toBe(1);
  });

  it.each(['mail', 'rcpt'])(
    'asks the next host when one says of itself thrice, at %s, that it is unable',
    async (at) => {
      const [domain, full, alive] = [fresh(), fresh(), fresh()];
      await world().host(full, { fault: ({ step }) => (step === at ? '4xx' : undefined) });
      await world().host(alive);
      world().domain(domain, [10, full], [20, alive]);
      const pool = poolOf();
      const outcomes = [];
      for (let times = 0; times < 4; times += 1) outcomes.push(await send(pool, `a@${domain}`));
      expect(outcomes.map(({ kind }) => kind)).toEqual(['deferred', 'deferred', 'deferred', 'accepted']);
    },
  );

  it('spreads connections over hosts of one preference', async () => {
    const [domain, left, right] = [fresh(), fresh(), fresh()];
    const hosts = [await world().host(left, { messageMs: 20 }), await world().host(right, { messageMs: 20 })];
    world().domain(domain, left, right);
    const pool = poolOf();
    await Promise.all(Array.from({ length: 20 }, (_, index) => send(pool, `${index}@${domain}`)));
    expect(hosts.every((host) => host.deliveries().size > 0)).toBe(true);
  });

  it('uses the domain itself without MX records, also through an alias, and one connection for domains of a host', async () => {
    const [domain, alias, name] = [fresh(), fresh(), fresh()];
    const host = await world().host(name);
    world().dns.set(domain, { A: [host.address] });
    world().dns.set(alias, { CNAME: name });
    const pool = poolOf();
    expect(await send(pool, `a@${domain}`)).toMatchObject({ kind: 'accepted', server: domain });
    expect(await send(pool, `a@${alias}`)).toMatchObject({ kind: 'accepted' });
    const [one, two, mx] = [fresh(), fresh(), fresh()];
    const shared = await world().host(mx);
    for (const each of [one, two]) world().domain(each, mx);
    for (const each of [one, two]) await send(pool, `a@${each}`);
    expect(shared.connectionCount()).toBe(1);
  });

  it.each<[string, (domain: string) => void, object]>([
    ['a domain that does not exist', () => undefined, { kind: 'rejected', enhancedCode: '5.1.2' }],
    [
      'a null MX',
      (domain) => world().domain(domain, [0, '']),
      { kind: 'rejected', replyCode: 556, enhancedCode: '5.1.10' },
    ],
    [
      'no record that leads to a host',
      (domain) => world().dns.set(domain, { TXT: ['x'] }),
      { kind: 'rejected', enhancedCode: '5.4.4' },
    ],
    [
      'hosts that do not exist',
      (domain) => world().domain(domain, 'gone.invalid'),
      { kind: 'rejected', enhancedCode: '5.4.4' },
    ],
    [
      'aliases without an end',
      (domain) => world().dns.set(domain, { CNAME: domain }),
      { kind: 'deferred', enhancedCode: '4.4.3' },
    ],
    [
      'SERVFAIL',
      (domain) => world().dns.behave(domain, { rcode: 'SERVFAIL' }),
      { kind: 'deferred', enhancedCode: '4.4.3' },
    ],
    [
      'a host without an answer',
      (domain) => {
        world().domain(domain, `mx.${domain}`);
        world().dns.behave(`mx.${domain}`, { rcode: 'SERVFAIL' });
      },
      { kind: 'deferred', enhancedCode: '4.4.3' },
    ],
    [
      'a host in a private network',
      (domain) => world().dns.set(domain, { A: ['10.0.0.1'] }),
      { kind: 'deferred', enhancedCode: '4.4.4' },
    ],
    [
      'the metadata of a cloud',
      (domain) => world().dns.set(domain, { A: ['169.254.169.254'] }),
      { kind: 'deferred', enhancedCode: '4.4.4' },
    ],
    [
      'hosts that refuse connections',
      (domain) => world().dns.set(domain, { A: ['127.0.0.251'] }),
      { kind: 'deferred', enhancedCode: '4.4.1' },
    ],
  ])('has an outcome for %s', async (_name, publish, outcome) => {
    const domain = fresh();
    publish(domain);
    expect(await send(poolOf(), `a@${domain}`)).toMatchObject({ ...outcome, relay: 'mail.everpost.test' });
  });

  it.each(['spam', 'dkim', 'rate-limit-exceeded', 'virus'])(
    'is a bounce where a domain with a name such as %s does not exist',
    async (name) => {
      const outcome = await send(poolOf(), `a@${name}.${fresh()}`);
      expect(outcome).toMatchObject({ kind: 'rejected', isOurs: true });
      if (outcome.kind === 'rejected') expect(judgeOutcome(outcome)).toMatchObject({ kind: 'hard' });
    },
  );

  it('looks for an address among twenty hosts', async () => {
    const [domain, name] = [fresh(), fresh()];
    await world().host(name);
    const gone = Array.from({ length: 19 }, (_, n): [number, string] => [n, `gone-${n}.invalid`]);
    world().domain(domain, ...gone, [20, name]);
    expect(await send(poolOf(), `a@${domain}`)).toMatchObject({ kind: 'accepted', server: name });
  });

  it('bounces an address literal, and takes an internationalised domain by its A-labels', async () => {
    const pool = poolOf();
    expect(await send(pool, 'a@[127.0.0.1]')).toMatchObject({ kind: 'rejected', enhancedCode: '5.1.2' });
    const host = await world().host('xn--bcher-kva.test');
    expect(await send(pool, 'a@bücher.test')).toMatchObject({ kind: 'accepted' });
    expect([...host.deliveries().keys()]).toEqual(['a@xn--bcher-kva.test']);
  });

  it('reads an answer that does not fit into a packet', async () => {
    const [domain, name] = [fresh(), fresh()];
    await world().host(name);
    world().domain(domain, ...Array.from({ length: 60 }, (_, index) => [20, `unused-${index}.example.test`] as const), [
      1,
      name,
    ]);
    world().dns.behave(domain, { truncate: true });
    expect(await send(poolOf(), `a@${domain}`)).toMatchObject({ kind: 'accepted', server: name });
  });

  it('finds the public address of a host among others', async () => {
    const domain = fresh();
    const { address } = await world().host(`mx.${domain}`);
    world().dns.set(domain, { A: ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4', address] });
    expect(await send(poolOf(), `a@${domain}`)).toMatchObject({ kind: 'accepted', server: domain });
  });

  it('says why a greeting refused us, and tries the message later', async () => {
    const domain = fresh();
    await world().host(domain, { fault: ({ step }) => (step === 'greeting' ? '5xx' : undefined) });
    expect(await send(poolOf(), `a@${domain}`)).toMatchObject({
      kind: 'deferred',
      replyCode: 554,
      stage: 'mail',
      reply: '554 5.7.1 No',
    });
  });
});

describe('sources', () => {
  const urlWith = (address: string) => `${world().url}&source=${address}`;

  it('binds to the address of the source, and avoids the sources that a message must not use', async () => {
    const domain = fresh();
    await world().host(domain);
    const pool = poolOf({ urls: [`${urlWith('127.0.0.1')}&source=127.0.0.99`] });
    const raw = Buffer.from('Subject: x\r\n\r\nx\r\n');
    const to = { from: 'a@sender.test', to: `a@${domain}` };
    expect(await pool.send(to, raw, { avoid: new Set(['127.0.0.1']) })).toMatchObject({ relay: '127.0.0.99' });
    expect(await pool.send(to, raw, { avoid: new Set(['127.0.0.99']) })).toMatchObject({ relay: '127.0.0.1' });
    await expect(pool.send(to, raw, { avoid: new Set(['127.0.0.1', '127.0.0.99']) })).rejects.toThrow('No server');
  });

  it('keeps messages when the address of the source is not of this machine', async () => {
    const domain = fresh();
    await world().host(domain);
    const pool = poolOf({ urls: [urlWith('192.0.2.77')] });
    for (let times = 0; times < 2; times += 1)
      await expect(send(pool, `a@${domain}`)).rejects.toThrow(SmtpUnavailableError);
    expect(pool.relays()[0]?.isDown).toBe(true);
    const both = poolOf({ urls: [`${urlWith('192.0.2.77')}&source=127.0.0.1`] });
    expect(await send(both, `a@${domain}`)).toMatchObject({ kind: 'accepted', relay: '127.0.0.1' });
  });

  it('defers what only the other family of addresses reaches, and works beside relays', async () => {
    const domain = fresh();
    const host = await world().host(domain);
    const six = fresh();
    world().dns.set(six, { AAAA: ['2001:db8::1'] });
    const relay = new URL(host.url);
    const pool = poolOf({ urls: [urlWith('127.0.0.1'), `smtp://${host.address}:${relay.port}`] });
    const outcomes = await Promise.all(Array.from({ length: 30 }, (_, index) => send(pool, `${index}@${domain}`)));
    expect(new Set(outcomes.map((outcome) => outcome.relay))).toEqual(
      new Set(['127.0.0.1', `${host.address}:${relay.port}`]),
    );
    expect(host.deliveries().size).toBe(30);
    expect(await send(poolOf({ urls: [urlWith('127.0.0.1')] }), `a@${six}`)).toMatchObject({
      kind: 'deferred',
      enhancedCode: '4.4.4',
    });
  });

  it('says which sources do not reach the hosts, so that the message may go by another', async () => {
    const [domain, six] = [fresh(), fresh()];
    await world().host(domain);
    world().dns.set(six, { AAAA: ['::1'] });
    const pool = poolOf({ urls: [`${urlWith('127.0.0.1')}&source=::1&allow=::1/128`] });
    for (const [to, left, unfit] of [
      [domain, '127.0.0.1', '::1'],
      [six, '::1', '127.0.0.1'],
    ] as const) {
      const avoiding = pool.send({ from: '', to: `a@${to}` }, 'x', { avoid: new Set([left]) });
      await expect(avoiding).rejects.toThrow(NoWayError);
      await expect(avoiding).rejects.toMatchObject({ relays: [unfit], outcome: { enhancedCode: '4.4.4' } });
    }
    expect(await send(pool, `a@${domain}`)).toMatchObject({ kind: 'accepted', relay: '127.0.0.1' });
  });

  it('refuses entries that are wrong, naming what', () => {
    for (const [url, words] of [
      ['mx://?source=192.0.2.1', 'helo'],
      ['mx://?helo=mail.example.com&source=here', 'source'],
      ['mx://?helo=mail.example.com&port=0', 'port'],
      ['mx://?helo=mail.example.com&allow=x', 'allow'],
      ['mx://?helo=mail.example.com&sauce=192.0.2.1', 'sauce'],
      ['mx://host?helo=mail.example.com', 'form'],
    ] as const) {
      expect(() => poolOf({ urls: [url] })).toThrow(words);
    }
    const twice = 'mx://?helo=mail.example.com&source=192.0.2.1';
    expect(() => poolOf({ urls: [twice, twice] })).toThrow('twice');
  });
});

describe('a message for an address with letters outside ASCII', () => {
  const WITH = { extensions: () => ['PIPELINING', '8BITMIME', 'SMTPUTF8'] };
  const octets = (address: string) => Buffer.from(address).toString('latin1');

  it('goes to the host that offers SMTPUTF8, while other mail keeps its host', async () => {
    const [domain, best, other] = [fresh(), fresh(), fresh()];
    const [plain, able] = [await world().host(best), await world().host(other, WITH)];
    world().domain(domain, [10, best], [20, other]);
    const pool = poolOf();
    const outcomes = await Promise.all(['jörg', 'ada', '用户', 'bo'].map((name) => send(pool, `${name}@${domain}`)));
    expect(outcomes.map((outcome) => 'server' in outcome && outcome.server)).toEqual([other, best, other, best]);
    expect([...plain.attempts().keys()].sort()).toEqual([`ada@${domain}`, `bo@${domain}`]);
    expect([...able.deliveries().keys()].sort()).toEqual([octets(`jörg@${domain}`), octets(`用户@${domain}`)].sort());
    expect(pool.relays()[0]?.outcomes).toMatchObject({ accepted: 4, rejected: 0, deferred: 0 });
  });

  it('is refused when no host of the domain offers it, and nothing is held against the source', async () => {
    const [domain, left, right] = [fresh(), fresh(), fresh()];
    const hosts = [await world().host(left), await world().host(right, { extensions: () => ['8BITMIME'] })];
    world().domain(domain, left, right);
    const pool = poolOf();
    const refused = await send(pool, `jörg@${domain}`).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Utf8NotOfferedError);
    expect(refused).toMatchObject({
      message: expect.stringMatching(new RegExp(`^5\\.6\\.7 .*RFC 6531.* not offered by any mail host of ${domain}`)),
      relays: ['mail.everpost.test'],
    });
    expect(hosts.flatMap((host) => [...host.attempts()])).toEqual([]);
    expect(pool.relays()[0]?.outcomes).toEqual({ accepted: 0, rejected: 0, deferred: 0, interrupted: 0 });
    expect(await send(pool, `ada@${domain}`)).toMatchObject({ kind: 'accepted' });
  });

  it('waits for the host that may offer it, while that one cannot be connected to', async () => {
    const [domain, plain, away] = [fresh(), fresh(), fresh()];
    await world().host(plain);
    world().dns.set(away, { A: ['127.0.0.249'] });
    world().domain(domain, [10, plain], [20, away]);
    expect(await send(poolOf(), `jörg@${domain}`)).toMatchObject({ kind: 'deferred', enhancedCode: '4.4.1' });
  });

  it('is sent by the mail hosts when the relay beside them does not offer it', async () => {
    const [domain, name] = [fresh(), fresh()];
    const host = await world().host(name, WITH);
    world().domain(domain, name);
    const relay = await createFaultyRelay();
    const pool = poolOf({ urls: [relay.url, world().url] });
    const first = await send(pool, `jörg@${domain}`).catch((error: unknown) => error);
    const missed = first instanceof Utf8NotOfferedError ? first.relays : [];
    const outcome =
      missed.length > 0 ? await pool.send({ from: '', to: `jörg@${domain}` }, 'x', { avoid: new Set(missed) }) : first;
    expect(outcome).toMatchObject({ kind: 'accepted', server: name });
    expect([host.deliveries().size, relay.deliveries().size]).toEqual([1, 0]);
    await relay.close();
  });
});
