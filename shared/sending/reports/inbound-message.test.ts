import { describe, expect, it } from '@jest/globals';
import { cpuMsOf } from '../../../tests/support/cpu-time.ts';
import { readInboundMessage } from './inbound-message.ts';

const MIB = 1_048_576;
/** An unbounded reading takes seconds. */
const READING_CPU_MS_MAX = 400;

const read = (text: string, envelopeFrom = 'ada@home.test') =>
  readInboundMessage(Buffer.from(text, 'latin1'), envelopeFrom);
const message = (lines: string[], body = 'Words') => [...lines, '', body].join('\r\n');

/** A part wrapped into multipart entities, the innermost first. */
function nest(depth: number, part: string): string {
  let text = part;
  for (let level = 0; level < depth; level++) {
    text = `Content-Type: multipart/mixed; boundary=b${level}\r\n\r\n--b${level}\r\n${text}\r\n--b${level}--\r\n`;
  }
  return text;
}

const STATUS = message(
  ['Content-Type: message/delivery-status'],
  'Reporting-MTA: dns; mx.test\r\n\r\nAction: failed\r\nStatus: 5.1.1\r\nDiagnostic-Code: smtp; 550 5.1.1 No such user',
);

describe('a delivery report', () => {
  it.each([1, 2, 3, 5])('is found %s multiparts deep', (depth) => {
    expect(read(nest(depth, STATUS))).toMatchObject({
      kind: 'dsn',
      recipients: [{ action: 'failed', status: '5.1.1' }],
    });
  });

  it('is found beside a text and a footer of a gateway', () => {
    const words = message(['Content-Type: text/plain'], 'This message was scanned');
    const report = nest(1, STATUS).replaceAll('b0', 'inner');
    const whole = `Content-Type: multipart/mixed; boundary="b0"\r\n\r\n--b0\r\n${words}\r\n--b0\r\n${report}\r\n--b0\r\n${words}\r\n--b0--`;
    expect(read(whole)).toMatchObject({ kind: 'dsn' });
  });

  it('inside a message that is only carried along is not about our email', () => {
    const carried = `Content-Type: message/rfc822\r\n\r\n${nest(1, STATUS).replaceAll('b0', 'inner')}`;
    expect(read(nest(1, carried))).toMatchObject({ kind: 'reply' });
  });

  it('is not searched for deeper than five levels', () => {
    expect(read(nest(6, STATUS))).toMatchObject({ kind: 'reply' });
  });
});

describe('a message of a machine', () => {
  it.each([
    'Auto-Submitted: auto-replied',
    'Auto-Submitted: auto-generated (vacation)',
    'Precedence: bulk',
    'Precedence: auto_reply',
    'X-Auto-Response-Suppress: All',
    'X-Autoreply: yes',
    'List-Id: <list.example>',
    'Content-Type: multipart/report; report-type=disposition-notification; boundary=a',
    'From: MAILER-DAEMON@mx.test',
    'From: "Ada" <no-reply+123@mx.test>',
    'Subject: Out of Office: back on Monday',
    'Subject: Automatic reply: News',
    'Subject: =?utf-8?q?R=C3=A9ponse_automatique?=',
    'Subject: Abwesenheitsnotiz',
    'Subject: =?utf-8?b?6Ieq5Yqo5Zue5aSN?= News',
    'Subject: Please confirm your message to Ada',
    'Subject: Re: News (verification required)',
    'Subject: Im Urlaub: News',
  ])('is no answer and no bounce: %s', (field) => {
    const others = ['From: Ada <ada@home.test>', 'Subject: Re: News'].filter(
      (other) => other.split(':')[0] !== field.split(':')[0],
    );
    expect(read(message([...others, field])).kind).toBe('automatic');
  });

  it('is recognized by its empty envelope sender, and by the address of a mail server', () => {
    expect(read(message(['Subject: Re: News']), '').kind).toBe('automatic');
    expect(read(message(['Subject: Re: News']), 'postmaster@mx.test').kind).toBe('automatic');
  });

  it.each(['Re: Out of office hours', 'Automatic door', 'Vacations in May', 'Confirmed!'])(
    'is not what a person writes about "%s"',
    (subject) => {
      expect(read(message(['From: ada@home.test', `Subject: ${subject}`, 'Auto-Submitted: no']))).toMatchObject({
        kind: 'reply',
        from: 'ada@home.test',
        subject,
      });
    },
  );
});

describe('a hostile message', () => {
  const fill = (unit: string, head = '') => head + unit.repeat(Math.floor((MIB - head.length) / unit.length));
  const report = 'From: MAILER-DAEMON\r\nContent-Type: multipart/report; boundary=a\r\n\r\n';
  const status = 'Content-Type: multipart/report; boundary=a\r\n\r\n--a\r\nContent-Type: message/delivery-status\r\n';
  const html = `--a\r\nContent-Type: text/html\r\n\r\n${'<'.repeat(250_000)}\r\n`;
  const vague = `Content-Type: message/delivery-status\r\n\r\n${'Action: failed\r\nStatus: 5.0.0\r\n\r\n'.repeat(52)}`;
  const wrapping = (name: string): string => {
    const lines = ['From: MAILER-DAEMON', `Content-Type: multipart/report; boundary=${name}`, '', `--${name}`];
    return [...lines, 'Content-Type: message/rfc822', '', ''].join('\r\n');
  };
  const nestReports = (depth: number): string => {
    const words = `\r\n--b${depth}\r\n\r\n${'bezorg'.repeat(2_700)}\r\n`;
    if (depth === 0) return `From: MAILER-DAEMON\r\n\r\n${words}`;
    const inner = nestReports(depth - 1);
    const between = `\r\n--b${depth}\r\nContent-Type: message/rfc822\r\n\r\n`;
    return `${wrapping(`b${depth}`)}${[inner, inner, inner].join(between)}${words}`;
  };

  it.each([
    ['nests deeply around much', nest(5, fill('x\r\n'))],
    ['nests without end', nest(5_000, '')],
    [
      'has as many parts as it can',
      fill(
        '--a\r\nContent-Type: multipart/mixed; boundary=a\r\n\r\n',
        'Content-Type: multipart/mixed; boundary=a\r\n\r\n',
      ),
    ],
    ['has as many fields as it can', Array.from({ length: 90_000 }, (_, index) => `X${index}: y`).join('\r\n')],
    ['repeats a folded field', fill('X: y\r\n z\r\n')],
    ['is one long parameter list', fill('; a ', 'Content-Type: multipart/mixed')],
    ['is one long encoded word', fill('=?utf-8?q?=C3?= ', 'Subject: ')],
    ['names a charset that is none', fill('=?x-none?b?QUJD?= ', 'Subject: ')],
    ['quotes without end', fill('"\\"', 'From: ')],
    ['has a report of nothing but recipients', fill('Action: failed\r\n\r\n', `${status}\r\n`)],
    ['has a report of nothing but space', fill('\n            x', `${status}\r\n`)],
    ['has a report of soft line ends', fill('=  ', `${status}Content-Transfer-Encoding: quoted-printable\r\n\r\n`)],
    ['has a diagnostic of nothing but dots', fill('5.', `${status}\r\nAction: failed\r\nDiagnostic-Code: `)],
    ['is nothing but line ends', fill('\r\n\t', 'A: b')],
    [
      'has a new boundary on each line',
      Array.from({ length: 90_000 }, (_, index) => `--bound${index}\r\n`).join('\r\n'),
    ],
    ['is one line of dashes', fill('-', 'From: MAILER-DAEMON\r\n\r\nundeliverable\r\n')],
    ['is one reply after another', fill('550-550:', 'From: MAILER-DAEMON\r\n\r\nundeliverable\r\n')],
    ['is one address after another', fill('a@b.c', 'From: MAILER-DAEMON\r\n\r\nundeliverable 550 ')],
    ['names hosts without end', fill('host a.b ', 'From: MAILER-DAEMON\r\n\r\nundeliverable 550 ')],
    ['opens elements without end', fill('<style', 'From: MAILER-DAEMON\r\nContent-Type: text/html\r\n\r\n')],
    ['is JSON without end', fill('{"a":', 'From: MAILER-DAEMON\r\n\r\n')],
    ['wraps without end', fill('Content-Type: message/rfc822\r\n\r\n', 'From: <>\r\n')],
    ['wraps reports without end', Array.from({ length: 2_500 }, (_, index) => wrapping(`b${10_000 + index}`)).join('')],
    ['has many recipients without a reason beside much HTML', `${report}${html}${html}${html}--a\r\n${vague}`],
    ['wraps reports of one long word around one another', nestReports(3)],
  ])('that %s is read in little CPU time', async (_name, text) => {
    read(text, '');
    expect(await cpuMsOf(() => read(text, ''))).toBeLessThan(READING_CPU_MS_MAX);
  });
});
