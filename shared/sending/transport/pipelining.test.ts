import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { useCleanUps } from '../../../tests/support/clean-ups.ts';
import { createSmtpSink } from '../../../tests/support/smtp-sink.ts';
import { createSmtpPool, type SmtpOutcome, type SmtpPool } from './smtp-pool.ts';

const FROM = 'news@example.com';
const RAW = 'Subject: Test\r\n\r\nHello\r\n';

const cleanUp = useCleanUps();

function startPool(url: string, maxConnections = 1): SmtpPool {
  const logger = { warn: () => undefined };
  const pool = createSmtpPool({ urls: [url], maxConnections, replyTimeoutMs: 5000, logger });
  cleanUp(() => pool.close({ timeoutMs: 1000 }));
  return pool;
}

/**
 * A server that answers all commands of a packet at once, as a server under load does. `answer` gets each command, and
 * `.` for the end of a message; undefined cuts the connection. Packets are recorded as they came.
 */
async function startServer(
  extensions: string[],
  answer: (command: string) => string | undefined = () => '250 2.0.0 Ok',
): Promise<{ url: string; packets: string[] }> {
  const packets: string[] = [];
  const server = createServer((socket) => {
    let rest = '';
    let isContent = false;
    socket.on('error', () => socket.destroy());
    socket.write('220 test ESMTP\r\n');
    socket.on('data', (chunk) => {
      packets.push(chunk.toString('latin1'));
      const lines = (rest + chunk.toString('latin1')).split('\r\n');
      rest = lines.pop() ?? '';
      let replies = '';
      for (const line of lines) {
        if (isContent && line !== '.') continue;
        const command = line.slice(0, 4);
        if (command === 'EHLO') {
          replies += [...extensions.map((name) => `250-${name}`), '250 HELP', ''].join('\r\n');
          continue;
        }
        const reply = answer(line) ?? '';
        if (reply === '') {
          socket.end(replies, () => socket.destroy());
          return;
        }
        const isAsked = command === 'DATA' && reply.startsWith('2');
        replies += isAsked ? '354 Go on\r\n' : `${reply}\r\n`;
        isContent = isAsked || (command === 'DATA' && reply.startsWith('3'));
      }
      socket.write(replies);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUp(async () => {
    server.close();
    await once(server, 'close');
  });
  return { url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`, packets };
}

const sendAll = (pool: SmtpPool, names: string[]) =>
  Promise.allSettled(names.map((name) => pool.send({ from: FROM, to: `${name}@example.org` }, RAW)));

const kinds = (results: PromiseSettledResult<SmtpOutcome>[]) =>
  results.map((result) => (result.status === 'fulfilled' ? result.value.kind : 'failed'));

describe('a pool with pipelining', () => {
  it('announces a message in one piece with the content of the previous one', async () => {
    const { url, packets } = await startServer(['PIPELINING', 'SIZE 1000']);
    expect(kinds(await sendAll(startPool(url), ['1', '2', '3']))).toEqual(['accepted', 'accepted', 'accepted']);
    const envelope = (name: string) => `MAIL FROM:<${FROM}> SIZE=24\r\nRCPT TO:<${name}@example.org>\r\nDATA\r\n`;
    expect(packets.slice(1, 5)).toEqual([
      envelope('1'),
      `${RAW}.\r\n${envelope('2')}`,
      `${RAW}.\r\n${envelope('3')}`,
      `${RAW}.\r\n`,
    ]);
  });

  it('waits for every reply of a server that does not offer pipelining', async () => {
    const { url, packets } = await startServer([]);
    expect(kinds(await sendAll(startPool(url), ['1', '2']))).toEqual(['accepted', 'accepted']);
    const steps = (name: string) => [`MAIL FROM:<${FROM}>\r\n`, `RCPT TO:<${name}@example.org>\r\n`, 'DATA\r\n'];
    expect(packets.slice(1, 9)).toEqual([...steps('1'), `${RAW}.\r\n`, ...steps('2'), `${RAW}.\r\n`]);
  });

  it('matches replies to messages when the content of one is refused after the next was announced', async () => {
    const refusals = ['554 5.6.0 No', '250 Ok', '451 4.3.0 Later'];
    const { url } = await startServer(['PIPELINING'], (line) => (line === '.' ? refusals.shift() : '250 Ok'));
    expect(kinds(await sendAll(startPool(url), ['1', '2', '3']))).toEqual(['rejected', 'accepted', 'deferred']);
  });

  it('ends the transaction of a refused recipient in one piece with the next message', async () => {
    const { url, packets } = await startServer(['PIPELINING'], (line) => {
      if (line.includes('<2@')) return '550 5.1.1 Unknown';
      return line === 'DATA' && packets.at(-1)?.includes('<2@') ? '554 5.5.1 No valid recipients' : '250 Ok';
    });
    const results = await sendAll(startPool(url), ['1', '2', '3']);
    expect(kinds(results)).toEqual(['accepted', 'rejected', 'accepted']);
    expect(results[1]).toMatchObject({ value: { stage: 'rcpt', replyCode: 550, enhancedCode: '5.1.1' } });
    expect(packets.find((packet) => packet.includes('<3@'))).toMatch(/^RSET\r\nMAIL FROM/);
  });

  it('sends an empty message to a server that asks for content without a recipient', async () => {
    const { url, packets } = await startServer(['PIPELINING'], (line) =>
      line.includes('<1@') ? '550 5.1.1 Unknown' : '250 Ok',
    );
    expect(kinds(await sendAll(startPool(url), ['1', '2']))).toEqual(['rejected', 'accepted']);
    expect(packets[2]).toBe('.\r\n');
  });

  it('repeats a message that was only announced when the connection broke', async () => {
    let ends = 0;
    const { url, packets } = await startServer(['PIPELINING'], (line) => {
      if (line !== '.') return '250 Ok';
      ends += 1;
      return ends === 2 ? undefined : '250 Ok';
    });
    const results = await sendAll(startPool(url), ['1', '2', '3']);
    expect(kinds(results)).toEqual(['accepted', 'interrupted', 'accepted']);
    expect(results[1]).toMatchObject({ value: { mayHaveBeenAccepted: true } });
    expect(packets.filter((packet) => packet.includes('<3@'))).toHaveLength(2);
  });

  it('asks for receipts where the server offers them', async () => {
    for (const [extensions, mail, rcpt] of [
      [['PIPELINING', 'DSN'], ' RET=HDRS ENVID=0190-id', ' NOTIFY=SUCCESS,FAILURE,DELAY'],
      [['PIPELINING'], '', ''],
    ] as const) {
      const { url, packets } = await startServer([...extensions]);
      await startPool(url).send({ from: FROM, to: 'a@example.org', receiptId: '0190-id' }, RAW);
      expect(packets[1]).toBe(`MAIL FROM:<${FROM}>${mail}\r\nRCPT TO:<a@example.org>${rcpt}\r\nDATA\r\n`);
    }
  });

  it('reads a reply in any pieces and on any number of lines, and refuses one without an end', async () => {
    const { url } = await startServer(['PIPELINING'], (line) =>
      line.includes('<1@') ? '550-5.1.1 Ünknown\r\n550-5.1.1 user\r\n550 5.1.1 here' : '250-2.0.0 Ok\r\n250 2.0.0 Ok',
    );
    const [refused, accepted] = await sendAll(startPool(url), ['1', '2']);
    expect(refused).toMatchObject({ value: { kind: 'rejected', reply: expect.stringContaining('5.1.1 here') } });
    expect(accepted).toMatchObject({ value: { kind: 'accepted' } });
    const endless = await startServer(['PIPELINING'], () => '250-'.repeat(20_000));
    const [failed] = await sendAll(startPool(endless.url), ['1']);
    expect(failed).toMatchObject({ value: { kind: 'interrupted', reply: expect.stringContaining('without an end') } });
  });
});

describe('a server that refuses for a while', () => {
  const words = '4.7.0 Too many messages in this session';

  it.each(['MAIL', 'RCPT', 'DATA', '.'])(
    'at %s because of the connection gets the message over a fresh one',
    async (at) => {
      const { url, packets } = await startServer(['PIPELINING'], (line) => {
        const connection = packets.slice(packets.findLastIndex((packet) => packet.startsWith('EHLO')));
        // The content of the message under way has come when its end is answered.
        const sent = connection.filter((packet) => packet.startsWith(RAW)).length - (line === '.' ? 1 : 0);
        return line.startsWith(at) && sent >= 2 ? `450 ${words}` : '250 Ok';
      });
      expect(kinds(await sendAll(startPool(url), ['1', '2', '3', '4', '5']))).toEqual(Array(5).fill('accepted'));
      expect(packets.filter((packet) => packet.startsWith('EHLO'))).toHaveLength(3);
    },
  );

  it('is asked once more over a fresh connection, and only if it may be about the connection', async () => {
    const { url, packets } = await startServer(['PIPELINING'], (line) =>
      line.startsWith('MAIL') && packets.some((packet) => packet.startsWith(RAW)) ? `450 ${words}` : '250 Ok',
    );
    const results = await sendAll(startPool(url), ['1', '2']);
    expect(kinds(results)).toEqual(['accepted', 'deferred']);
    expect(results[1]).toMatchObject({ value: { replyCode: 450, stage: 'mail' } });
    expect(packets.filter((packet) => packet.includes('MAIL FROM')).length).toBe(3);
    const busy = await startServer(['PIPELINING'], (line) =>
      line.includes('<2@') ? '450 4.2.1 Mailbox busy' : '250 Ok',
    );
    expect(kinds(await sendAll(startPool(busy.url), ['1', '2']))).toEqual(['accepted', 'deferred']);
    expect(busy.packets.filter((packet) => packet.startsWith('EHLO'))).toHaveLength(1);
  });
});

describe('a pool', () => {
  const plan = fc.constantFrom('ok', 'ok', 'ok', 'rcpt550', 'rcpt450', 'data554', 'data452', 'cutRcpt', 'cutReply');

  it('returns an outcome for every message, whatever the server does', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(plan, { minLength: 1, maxLength: 30 }), fc.boolean(), async (plans, pipelining) => {
        const sink = await createSmtpSink({ pipelining });
        const pool = createSmtpPool({ urls: [sink.url], maxConnections: 2, logger: { warn: () => undefined } });
        try {
          const addresses = plans.map((_plan, index) => `u${index}@example.org`);
          plans.forEach((each, index) => {
            const address = addresses[index]!;
            const code = Number(each.slice(4));
            if (each.startsWith('rcpt')) sink.replyTo(address, { code, stage: 'rcpt', times: 1 });
            if (each.startsWith('data')) sink.replyTo(address, { code, stage: 'data', times: 1 });
            if (each === 'cutRcpt') sink.dropOn(address, { stage: 'rcpt', times: 1 });
            if (each === 'cutReply') sink.dropOn(address, { stage: 'reply', times: 1 });
          });
          const results = await Promise.allSettled(addresses.map((to) => pool.send({ from: FROM, to }, RAW)));
          results.forEach((result, index) => {
            const count = sink.recipientCounts().get(addresses[index]!) ?? 0;
            const each = plans[index]!;
            if (result.status === 'rejected') throw result.reason;
            if (result.value.kind === 'interrupted') {
              const { mayHaveBeenAccepted } = result.value;
              expect([mayHaveBeenAccepted, count]).toEqual([each === 'cutReply', each === 'cutReply' ? 1 : 0]);
            } else {
              const expected = each.endsWith('50') || each.startsWith('data') ? each : 'ok';
              const code = 'replyCode' in result.value ? result.value.replyCode : 'ok';
              expect(code).toBe(expected === 'ok' ? 'ok' : Number(expected.slice(4)));
              expect(count).toBe(expected === 'ok' ? 1 : 0);
            }
          });
        } finally {
          await pool.close({ timeoutMs: 1000 });
          await sink.close();
        }
      }),
      { numRuns: 25 },
    );
  });
});
