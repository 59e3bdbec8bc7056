import { describe, expect, it } from '@jest/globals';
import { recipientProviderOf } from './recipient-provider.ts';
import { signsOf } from './refusal-signs.ts';

const kindOf = (reply: string) => signsOf('ann@mail.test', { reply, stage: 'rcpt' }).kind;

describe('signsOf', () => {
  it('tells a server that wants fewer emails from one that wants none', () => {
    for (const reply of [
      '421 4.7.0 Too many messages from your address, slow down',
      '450 4.2.1 The sending rate is too high',
      '451 4.7.651 The mail server has been temporarily rate limited due to IP reputation',
      '451 4.7.500 Server busy. Please try again later from [192.0.2.5]. (S77719) [BL6PEPF0001.prod.outlook.com]',
      '452 4.3.1 Connection limit exceeded',
      '454 4.7.0 Message rate exceeded',
    ]) {
      expect(`${reply}: ${kindOf(reply)}`).toBe(`${reply}: too fast`);
    }
    expect(kindOf('554 5.7.1 Your address is on a blocklist')).toBe('about us');
    expect(kindOf('451 4.7.1 Your IP is listed by a blocklist')).toBe('about us');
  });

  it('finds no sign in greylisting, full mailboxes, busy servers and broken connections', () => {
    for (const reply of [
      '451 4.7.1 Greylisted, please try again in 300 seconds',
      '450 4.2.1 The user you are trying to contact is receiving mail at a rate that prevents delivery',
      '452 4.2.2 Mailbox full',
      '451 4.3.0 Try again later',
      '451 4.3.2 Server busy, try again later',
      '550 5.6.7 Non-ASCII addresses not permitted for that sender/recipient',
      '554 SMTPUTF8 is required, but was not offered by host mx.example.com',
      'something odd (the connection broke at RCPT TO)',
    ]) {
      expect(`${reply}: ${kindOf(reply)}`).toBe(`${reply}: nothing`);
    }
  });

  it('finds the cause of a temporary refusal where the server names it', () => {
    for (const reply of [
      '421 4.7.0 Messages from 192.0.2.5 temporarily deferred due to user complaints',
      '450 4.7.1 Your IP is on a blocklist, please try again later',
      '554 Messages from 192.0.2.5 temporarily blocked because of poor reputation',
    ]) {
      expect(`${reply}: ${kindOf(reply)}`).toBe(`${reply}: about us`);
    }
    for (const reply of [
      '450 4.7.1 Greylisted, your IP is not on a list yet, try again later',
      '421 Temporary failure',
    ]) {
      expect(`${reply}: ${kindOf(reply)}`).toBe(`${reply}: nothing`);
    }
  });

  it('tells what a provider has against a message from what it has against us', () => {
    for (const reply of ['552 5.3.4 Message too large', '554 5.7.1 Message rejected as spam']) {
      expect(signsOf('ann@mail.test', { reply, stage: 'data' }).kind).toBe('about the message');
    }
  });

  it('finds no sign in words of ours, which name the domain', () => {
    for (const reply of [
      '451 4.4.3 DNS gives no answer about rate-limit-exceeded.test (SERVFAIL)',
      '451 4.7.5 SMTP server mx.spam.test: it does not fulfil the TLS policy of spam.test (certificate-expired)',
    ]) {
      expect(signsOf('ann@mail.test', { reply, stage: 'rcpt', isOurs: true })).toMatchObject({
        kind: 'nothing',
        cause: 'other',
      });
    }
  });

  it('compares words without the recipient, numbers and codes', () => {
    const of = (name: string, reply: string) => signsOf(`${name}@mail.test`, { reply, stage: 'rcpt' });
    const first = of('ann', '550 5.1.1 <ann@mail.test>: ann, unknown user [x81]');
    const second = of('bob', '550 5.1.1 <bob@mail.test>: bob, unknown user [k77]');
    expect(first).toEqual(second);
    expect(first).toMatchObject({ kind: 'dead address', reason: expect.not.stringContaining('ann') });
  });
});

describe('recipientProviderOf', () => {
  it('joins the domains of one provider, and leaves others as they are', () => {
    expect(recipientProviderOf('a@Hotmail.com')).toBe(recipientProviderOf('b@live.com'));
    expect(recipientProviderOf('a@web.de')).toBe(recipientProviderOf('b@gmx.net'));
    expect(recipientProviderOf('a@Mail.test')).toBe('mail.test');
  });
});
