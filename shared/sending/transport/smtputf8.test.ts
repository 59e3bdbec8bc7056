import { describe, expect, it } from '@jest/globals';
import { useCleanUps } from '../../../tests/support/clean-ups.ts';
import { createRawSmtp } from '../../../tests/support/raw-smtp.ts';
import { createSmtpSink } from '../../../tests/support/smtp-sink.ts';
import { createSmtpPool, type SmtpPool } from './smtp-pool.ts';

const RAW = Buffer.from('From: a@example.com\r\nSubject: Test\r\n\r\nHello\r\n');
const FROM = 'bounce@example.com';
const cleanUp = useCleanUps();

function startPool(url: string): SmtpPool {
  const pool = createSmtpPool({
    urls: [url],
    maxConnections: 1,
    replyTimeoutMs: 3_000,
    logger: { warn: () => undefined },
  });
  cleanUp(() => pool.close({ timeoutMs: 1_000 }));
  return pool;
}

describe('a server that offers SMTPUTF8', () => {
  it('is told what a message needs, in octets of UTF-8, one message after another and announced behind others', async () => {
    for (const extensions of [
      '250-raw\r\n250-8BITMIME\r\n250 SMTPUTF8\r\n',
      '250-raw\r\n250-PIPELINING\r\n250 SMTPUTF8\r\n',
    ]) {
      const raw = await createRawSmtp((line) => {
        if (line.startsWith('EHLO')) return extensions;
        return line === 'DATA' ? '354 go\r\n' : '250 raw\r\n';
      });
      cleanUp(() => raw.close());
      const pool = startPool(raw.url);
      const outcomes = await Promise.all([
        pool.send({ from: '', to: 'jörg@bücher.example' }, RAW),
        pool.send({ from: 'grüße@example.com', to: 'a@b.test' }, RAW),
        pool.send({ from: FROM, to: 'a@b.test', isUtf8: true }, RAW),
        pool.send({ from: FROM, to: 'c@bücher.example' }, RAW),
      ]);
      expect(outcomes.map(({ kind }) => kind)).toEqual(['accepted', 'accepted', 'accepted', 'accepted']);
      const said = raw.lines.map((line) => Buffer.from(line, 'latin1').toString());
      const commands = said.filter((line) => /^(?:MAIL|RCPT)/.test(line));
      expect(commands).toEqual([
        'MAIL FROM:<> SMTPUTF8 BODY=8BITMIME',
        'RCPT TO:<jörg@xn--bcher-kva.example>',
        'MAIL FROM:<grüße@example.com> SMTPUTF8 BODY=8BITMIME',
        'RCPT TO:<a@b.test>',
        `MAIL FROM:<${FROM}> SMTPUTF8 BODY=8BITMIME`,
        'RCPT TO:<a@b.test>',
        `MAIL FROM:<${FROM}>`,
        'RCPT TO:<c@xn--bcher-kva.example>',
      ]);
    }
  });

  it('is not asked by other means: without it the message is given back, and its neighbours are sent', async () => {
    const sink = await createSmtpSink({ utf8: false });
    cleanUp(() => sink.close());
    const pool = startPool(sink.url);
    const sent = await Promise.allSettled(
      ['a@b.test', 'jörg@b.test', 'b@b.test', '用户@b.test'].map((to) => pool.send({ from: FROM, to }, RAW)),
    );
    expect(sent.map((each) => (each.status === 'fulfilled' ? each.value.kind : each.reason.relays))).toEqual([
      'accepted',
      [`127.0.0.1:${sink.port}`],
      'accepted',
      [`127.0.0.1:${sink.port}`],
    ]);
    expect(sink.connectionCount()).toBe(1);
    expect(pool.usage()).toMatchObject({ sending: 0, queued: 0 });
  });
});
