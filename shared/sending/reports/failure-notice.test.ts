import { describe, expect, it } from '@jest/globals';
import { judgeReport } from '../verdict/judge-report.ts';
import { readInboundMessage } from './inbound-message.ts';

const ORIGINAL =
  'Return-Path: <news@shop.test>\nReceived: from shop.test by mx.test\nSubject: News\n\nHello, user unknown!';

function notice(body: string, header = '', encoding: BufferEncoding = 'utf8'): Buffer {
  const from = /^From:/m.test(header) ? '' : 'From: Mail Delivery System <MAILER-DAEMON@mx.test>\n';
  return Buffer.from(`${from}To: news@shop.test\n${header}\n${body}`, encoding);
}

function verdictOf(raw: Buffer): string {
  const message = readInboundMessage(raw, '');
  if (message.kind !== 'dsn') return message.kind;
  const [recipient] = message.recipients;
  return recipient?.action === 'failed' ? judgeReport(recipient).kind : (recipient?.action ?? 'none');
}

describe('a report in free text', () => {
  it.each([
    [
      'qmail',
      'Hi. This is the qmail-send program at mx.test.\nI am afraid I was not able to deliver your message.\n\n<joe@home.test>:\n192.0.2.1 does not like recipient.\nRemote host said: 550 No such user\nGiving up on 192.0.2.1.\n\n--- Below this line is a copy of the message.\n\n',
      'hard',
    ],
    [
      'qmail, full',
      'Hi. This is the qmail-send program.\nThis is a permanent error.\n\n<joe@home.test>:\nThe user is over quota. (#5.1.1)\n\n--- Below this line is a copy.\n\n',
      'temporary',
    ],
    [
      'Exim',
      'A message that you sent could not be delivered.\n\n  joe@home.test\n    host mx.home.test [192.0.2.1]\n    SMTP error from remote mail server after RCPT TO:<joe@home.test>:\n    550 5.1.1 Unrouteable address\n\n------ This is a copy of the message. ------\n\n',
      'hard',
    ],
    [
      'Exim, at MAIL',
      'A message that you sent could not be delivered.\n\n  joe@home.test\n    SMTP error from remote mail server after MAIL FROM:<news@shop.test>:\n    550 User unknown\n\n',
      'sender',
    ],
    [
      'Exchange 5.5',
      'Your message\n\n  To: joe@home.test\n  Subject: News\n\ndid not reach the following recipient(s):\n\njoe@home.test on Mon, 1 Jan\n    The recipient name is not recognized\n',
      'hard',
    ],
    [
      'Notes',
      '------- Failure Reasons -------\n\nUser joe not listed in public Name & Address Book\njoe@home.test\n\n------- Returned Message -------\n',
      'hard',
    ],
    [
      'Sendmail',
      'The following addresses had permanent fatal errors\n<joe@home.test>\n\n   ----- Transcript of session follows -----\n... while talking to mx.home.test.:\n>>> DATA\n<<< 554 5.7.1 Message refused as spam\n\n',
      'sender',
    ],
    [
      'Yahoo',
      'Sorry, we were unable to deliver your message.\n\n<joe@home.test>:\nThis user does not have a home.test account\n\n--- Original message follows.\n',
      'hard',
    ],
    [
      'mail.ru',
      'Ваше письмо не может быть доставлено.\n\n  joe@home.test\n    550 Почтовый ящик переполнен\n\n',
      'temporary',
    ],
    [
      'T-Online',
      'Ihre Nachricht konnte nicht zugestellt werden.\n\njoe@home.test: Der Empfänger ist unbekannt\n',
      'hard',
    ],
    ['QQ', '您的邮件被退回。\n\n收件人 joe@home.test\n该用户不存在\n', 'hard'],
    ['a gateway', 'The message was returned to the sender.\n\nReceived >>> 554 5.7.1 Relaying denied\n', 'sender'],
    ['a broken network', 'Delivery failed.\n\njoe@home.test: connection timed out\n', 'temporary'],
    ['no reason', 'Your message could not be delivered.\n', 'sender'],
  ])('is read: %s', (_name, body, kind) => {
    expect(verdictOf(notice(`${body}${ORIGINAL}`, 'Subject: failure notice\n'))).toBe(kind);
  });

  it('is read in HTML, in base64 and in quoted-printable', () => {
    const text = 'Message could not be delivered: 550 5.1.1 Mailbox not found';
    const html = `<html><body><p>Undeliverable</p><p>550 5.1.1 Mailbox&nbsp;not found</p></body></html>`;
    const base64 = Buffer.from(text).toString('base64');
    const type = 'Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding:';
    expect(
      verdictOf(
        notice(
          `--b0123\nContent-Type: text/html\n\n${html}\n--b0123--`,
          'Content-Type: multipart/mixed; boundary=b0123\n',
        ),
      ),
    ).toBe('hard');
    expect(verdictOf(notice(base64, `${type} base64\n`))).toBe('hard');
    expect(verdictOf(notice(text.replace('delivered', 'deliv=\nered'), `${type} quoted-printable\n`))).toBe('hard');
  });

  it('is read in a charset that it names, names wrongly, or does not name', () => {
    const german = 'Zustellung nicht möglich, nicht zugestellt: Empfänger unbekannt';
    const of = (charset: string): string => `Content-Type: text/plain; charset=${charset}\n`;
    expect(verdictOf(notice(german, of('iso-8859-1'), 'latin1'))).toBe('hard');
    expect(verdictOf(notice(german, of('utf-8'), 'latin1'))).toBe('hard');
    expect(verdictOf(notice(german, of('x-unknown'), 'latin1'))).toBe('hard');
    expect(verdictOf(notice(german, '', 'utf8'))).toBe('hard');
  });

  it('is read when its parts have another boundary than it says, or none, or end too early', () => {
    const parts = (declared: string): string =>
      `Content-Type: multipart/report; report-type=delivery-status${declared}\n`;
    const body = `--real/1\n\nwords\n\n--real/1\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx.test\n\nFinal-Recipient: rfc822; joe@home.test\nAction: failed\nStatus: 5.1.1\n`;
    expect(verdictOf(notice(body, parts('; boundary="other"')))).toBe('hard');
    expect(verdictOf(notice(body, parts('')))).toBe('hard');
    expect(verdictOf(notice(body, ''))).toBe('hard');
  });

  it('is read when it has the fields of RFC 3464 as text', () => {
    const fields =
      'Final-Recipient: rfc822; joe@home.test\nAction: failed\nStatus: 5.2.1\nDiagnostic-Code: smtp; 550 account closed';
    expect(verdictOf(notice(`The mail could not be delivered.\n\n${fields}\n`))).toBe('hard');
  });

  it('is read inside a message that a gateway has wrapped around it', () => {
    const inner = notice('Undeliverable: joe@home.test\n\n550 5.1.1 No such user\n').toString();
    const wrapped = `--gate1\nContent-Type: text/plain\n\nScanned.\n--gate1\nContent-Type: message/rfc822\n\n${inner}\n--gate1--`;
    expect(verdictOf(notice(wrapped, 'Content-Type: multipart/mixed; boundary=gate1\n'))).toBe('hard');
  });

  it('is read as a warning while delivery goes on', () => {
    const words =
      'This is a warning message only. You do not need to resend your message.\n\njoe@home.test: 450 4.2.2 Mailbox full\n';
    expect(verdictOf(notice(words, 'Subject: Delivery Status Notification (Delay)\n'))).toBe('delayed');
  });

  it('is read as a notification of Amazon', () => {
    const of = (notification: unknown): Buffer =>
      notice(`${JSON.stringify(notification)}\n\n--\nIf you wish to stop`, 'From: no-reply@sns.amazonaws.com\n');
    const bouncedRecipients = [
      { emailAddress: 'joe@home.test', status: '5.1.1', diagnosticCode: 'smtp; 550 5.1.1 unknown' },
    ];
    expect(verdictOf(of({ notificationType: 'Bounce', bounce: { bounceType: 'Permanent', bouncedRecipients } }))).toBe(
      'hard',
    );
    expect(verdictOf(of({ notificationType: 'Delivery', delivery: { recipients: ['joe@home.test'] } }))).toBe(
      'delivered',
    );
    expect(verdictOf(of({ notificationType: 'Complaint', complaint: {} }))).toBe('complaint');
  });
});

describe('the reason in a report', () => {
  it.each([
    [
      'a header of the returned message is none',
      'Your message\n\n  To: joe@home.test\n  Subject: Spam policy, your quota\n\ndid not reach:\n\njoe@home.test\n    The recipient name is not recognized\n',
      'hard',
    ],
    [
      'the sender in a list of fields is none',
      'Message: News\nSender: news@shop.test\nRecipient: joe@home.test\nReason: No account by that name here\n',
      'hard',
    ],
    [
      'a subject that speaks of dead addresses is none',
      'Your message\n\n  Subject: This account does not exist\n\ndid not reach joe@home.test:\n   Rejected by the content filter\n',
      'sender',
    ],
    [
      'advice to the reader is none',
      'The message could not be delivered.\n\nRecipient: joe@home.test\nError: Recipient is not in the directory\n\nIf your server requires authentication, please contact its administrator.\n',
      'hard',
    ],
    [
      'a guess is none',
      'Your message could not be delivered to joe@home.test. The mailbox may be full, or the address may not exist.\n',
      'sender',
    ],
    [
      'a telephone number is no reply code',
      'The message could not be delivered. Contact us at (480) 555-0100.\n\n<joe@home.test>:\nThe account of the recipient does not exist.\n',
      'hard',
    ],
    [
      'a version is no status code',
      'Your message was returned by Filter 4.0.1 because the recipient joe@home.test is not known here.\n',
      'hard',
    ],
    [
      'an IP address has no reply code',
      'Undeliverable.\n\njoe@home.test: 213.165.64.100 said 550 mailbox unavailable\n',
      'hard',
    ],
    [
      'the words of every failure are none',
      'Mail delivery failed.\n\nThe following address does not exist:\n\n  joe@home.test\n',
      'hard',
    ],
    [
      'a reply to a later command is none',
      '>>> DATA\n<<< 550 5.1.1 <joe@home.test>... User unknown\n<<< 503 5.0.0 Need RCPT (recipient)\n',
      'hard',
    ],
    [
      'an address without spaces around it hides none',
      '您的邮件被退回。\n\n退信原因：收件人邮件地址（joe@home.test）不存在，邮件无法送达。\n',
      'hard',
    ],
  ])('is found: %s', (_name, body, kind) => {
    expect(verdictOf(notice(`${body}${ORIGINAL}`, 'Subject: failure notice\n'))).toBe(kind);
  });

  it.each([
    ['Action: error\nStatus: 5.0.0', 'hard'],
    ['Action: failure\nStatus: 5.1.1', 'hard'],
    ['Action: failed\nStatus: 5.3.0', 'hard'],
    ['Action: failed\nStatus: 5.1.2\nDiagnostic-Code: smtp; connection failed', 'hard'],
    ['Action: failed\nStatus: 5.4.4\nDiagnostic-Code: smtp; connection refused', 'temporary'],
    ['Action: error\nStatus: 4.4.1', 'temporary'],
  ])('is found in the fields or in the text beside them: %j', (fields, kind) => {
    const body = `--b1\n\njoe@home.test: This mailbox is closed\n--b1\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx.test\n\nFinal-Recipient: rfc822; joe@home.test\n${fields}\n--b1--\n`;
    expect(verdictOf(notice(body, 'Content-Type: multipart/report; report-type=delivery-status; boundary=b1\n'))).toBe(
      kind,
    );
  });
});

describe('a message that is no report', () => {
  const quoted = '> Your message could not be delivered: 550 5.1.1 User unknown';

  it.each([
    [
      'a note of absence with a null sender',
      'Subject: Automatic reply: News\n',
      'I am away. Mail could not be delivered to me.',
    ],
    ['the answer of a vacation program', 'X-Autoreply: yes\n', 'Delivery failed, I moved. 550 user unknown'],
    [
      'a challenge',
      'Subject: News\n',
      'Your message could not be delivered yet: please click the link to have it delivered.',
    ],
    [
      'a receipt',
      'Content-Type: multipart/report; report-type=disposition-notification; boundary=x\n',
      '--x\n\nThe message was not delivered to a person, but deleted.\n--x--',
    ],
    ['a receipt in words', 'Subject: Not read: News\n', 'Your message was deleted without being read; not delivered.'],
    [
      'a report of DMARC',
      'From: noreply-dmarc@isp.test\nSubject: Report domain: shop.test\n',
      'This is an aggregate report.',
    ],
  ])('is automatic: %s', (_name, header, body) => {
    expect(readInboundMessage(notice(body, header), '').kind).toBe('automatic');
  });

  it.each([
    ['Ada <ada@home.test>', 'Re: News', 'I cannot be reached until Monday. Your message will not be processed.'],
    ['Ada <ada@home.test>', 'News', 'Ada is no longer with the company, this mailbox is not active.'],
    ['no-reply@help.test', 'Your request', 'This mailbox is not monitored; the message was not delivered to a person.'],
    [
      'postmaster@mx.test',
      'Relayed: News',
      'Delivery is complete, but no notification was sent by the destination server.',
    ],
  ])('is automatic when %s writes about "%s" and quotes no server', (from, subject, body) => {
    expect(readInboundMessage(notice(body, `From: ${from}\nSubject: ${subject}\n`), '').kind).toBe('automatic');
  });

  it('is a reply when a person quotes a report', () => {
    const raw = notice(`I got this, why?\n\n${quoted}\n`, 'From: Ada <ada@home.test>\nSubject: Re: Undelivered mail\n');
    expect(readInboundMessage(raw, 'ada@home.test').kind).toBe('reply');
  });
});
