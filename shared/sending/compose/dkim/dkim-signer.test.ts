import { createPrivateKey } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { createDnsServer, type DnsServer } from '../../../../tests/support/dns-server.ts';
import { finish } from '../../../pure/steps.ts';
import type { RawMessage } from '../../transport/data-content.ts';
import { composeSteps, type OutgoingMessage } from '../mime/compose.ts';
import { createDkimSigner } from './dkim-signer.ts';
import { createDkimKeyring, DkimKeyError, type DkimKeyPair } from './key-pair.ts';

const DOMAIN = 'xn--bcher-kva.example';
const OWNER = '01890000-0000-7000-8000-000000000001';
const SIGNED_AT = Date.now();
const TWICE_OCTETS_MAX = 100_000;
const keyring = createDkimKeyring('a secret of a test run, which seals its keys');

let dns: DnsServer;
let pair: DkimKeyPair;
/** The octets of a signed message. It is signed as text and as octets, with the same signature. */
let signer: { sign: (message: RawMessage) => Promise<Buffer> };
const toOctets = (message: RawMessage) => (typeof message === 'string' ? Buffer.from(message, 'latin1') : message);
const composeMessage = (content: OutgoingMessage) => toOctets(finish(composeSteps(content)));
let lookUp: (name: string, type: string) => Promise<unknown>;
beforeAll(async () => {
  dns = await createDnsServer();
  pair = await keyring.generate(OWNER);
  dns.set(`${pair.selector}._domainkey.${DOMAIN}`, { TXT: [`v=DKIM1; k=rsa; p=${pair.publicKey}`] });
  const identity = { domain: DOMAIN, selector: pair.selector, privateKey: keyring.open(pair.sealedPrivateKey, OWNER) };
  const raw = createDkimSigner(identity, () => SIGNED_AT);
  signer = {
    async sign(message) {
      const octets = toOctets(message);
      const signed = toOctets(await raw.sign(octets));
      if (octets.length > TWICE_OCTETS_MAX) return signed;
      expect(toOctets(await raw.sign(octets.toString('latin1')))).toEqual(signed);
      return signed;
    },
  };
  const resolver = new Resolver();
  resolver.setServers([dns.address]);
  lookUp = (name, type) => resolver.resolve(name, type);
});
afterAll(() => dns.close());

/** The result of an independent verifier for a message, with the key from DNS. */
async function verify(message: Buffer) {
  const { results } = await dkimVerify(message, { resolver: lookUp as never });
  return results.map((result: any) => ({ result: result.status.result, domain: result.signingDomain }));
}
const PASS = [{ result: 'pass', domain: DOMAIN }];

const message: OutgoingMessage = {
  from: { address: `news@${DOMAIN}`, name: 'Bücher & mehr' },
  to: { address: 'ada@example.com', name: 'Ada Lovelace' },
  replyTo: `hello@${DOMAIN}`,
  subject: 'A subject that is so long that it has to be folded once, and then, to be sure of it, folded once more',
  html: '<p>Dear  Ada,   </p>\n\n<pre>\tcode </pre>\n.\n\n\n',
  text: 'Dear  Ada,   \n\n.\n..\n\n\n',
  messageId: `01890000-0000-7000-8000-000000000002@${DOMAIN}`,
  date: new Date('2026-11-21T10:00:00Z'),
  headers: [
    ['Feedback-ID', 'campaign:project:marketing:instance'],
    ['List-Id', '<project.example.com>'],
    ['Auto-Submitted', 'auto-generated'],
    ['List-Unsubscribe', '<https://everpost.test/unsubscribe/token>'],
    ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
    ['Precedence', 'bulk'],
  ],
};

describe('a DKIM signature', () => {
  it('covers the listed fields, and an independent verifier accepts it', async () => {
    const signed = await signer.sign(composeMessage(message));
    expect(await verify(signed)).toEqual(PASS);
    const header = signed.toString('latin1').split(/\r\n(?![ \t])/)[0]!;
    expect(header.replace(/\s+/g, '')).toMatch(
      new RegExp(
        `^DKIM-Signature:v=1;a=rsa-sha256;c=relaxed/relaxed;d=${DOMAIN};s=${pair.selector};t=\\d{10};bh=[^;]{44};` +
          'h=from:to:subject:date:message-id:mime-version:content-type:reply-to:list-id:feedback-id:auto-submitted:' +
          'list-unsubscribe:list-unsubscribe-post:from;b=[\\w+/]{342}==$',
      ),
    );
    expect(Math.max(...header.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(100);
    expect(signed.subarray(header.length + 2)).toEqual(composeMessage(message));
  });

  it('covers the transfer encoding of a message of one part', async () => {
    const signed = await signer.sign(composeMessage({ ...message, text: '', html: '<p>grüße</p>' }));
    expect(await verify(signed)).toEqual(PASS);
    expect(signed.toString('latin1').replace(/\s+/g, '')).toContain('content-type:content-transfer-encoding:reply-to');
  });

  it.each([
    ['another subject', (text: string) => text.replace('Subject: A', 'Subject: B')],
    ['another body', (text: string) => text.replace('Dear', 'Near')],
    ['another unsubscribe link', (text: string) => text.replace('everpost.test', 'elsewhere.test')],
    ['a second From', (text: string) => `From: other@${DOMAIN}\r\n${text}`],
    ['another date', (text: string) => text.replace('Nov 2026', 'Dec 2026')],
  ])('breaks with %s', async (_what, alter) => {
    const signed = (await signer.sign(composeMessage(message))).toString('latin1');
    const altered = alter(signed);
    expect(altered).not.toBe(signed);
    expect(await verify(Buffer.from(altered, 'latin1'))).not.toEqual(PASS);
  });

  it('survives changes of white space in relays', async () => {
    const signed = (await signer.sign(composeMessage(message))).toString('latin1');
    const refolded = signed
      .replace('Precedence: bulk', 'X-Relay: mx\r\nPrecedence: bulk')
      .replace('Subject: ', 'SUBJECT:   ');
    expect(await verify(Buffer.from(`${refolded}\r\n\r\n`, 'latin1'))).toEqual(PASS);
  });

  it('of a message with attachments of megabytes is made without blocking the event loop', async () => {
    const attachments = [
      {
        filename: 'a.bin',
        contentType: 'application/octet-stream',
        content: Buffer.alloc(3_000_000, 7),
        disposition: 'attachment' as const,
      },
    ];
    const composed = composeMessage({ ...message, html: `<pre>${'a  b \t\n'.repeat(60_000)}</pre>`, attachments });
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 0);
    const signed = await signer.sign(composed);
    clearInterval(timer);
    expect(await verify(signed)).toEqual(PASS);
    expect(turns).toBeGreaterThan(1);
  });

  it('is valid for any composed text', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 300 }),
      fc
        .array(fc.constantFrom(' ', '  ', '\t', '\n', '\r\n', '.', '..', '\n.\n', 'word', 'ü', '='), { maxLength: 60 })
        .map((parts) => parts.join('')),
    );
    await fc.assert(
      fc.asyncProperty(text, text, text, async (subject, html, plain) => {
        expect(await verify(await signer.sign(composeMessage({ ...message, subject, html, text: plain })))).toEqual(
          PASS,
        );
      }),
      { numRuns: 60 },
    );
  });

  it('is valid for any message with CRLF line ends, folds and any end of the body', async () => {
    const blank = fc.array(fc.constantFrom(' ', '\t'), { maxLength: 3 }).map((parts) => parts.join(''));
    const word = fc.string({ unit: fc.constantFrom(...Array.from('abcXYZ.=-:;,<>@')), minLength: 1, maxLength: 12 });
    const foldedValue = fc
      .array(fc.tuple(word, fc.constantFrom(' ', '  ', '\t', '\r\n ', ' \r\n\t', '\r\n  \t')), {
        minLength: 1,
        maxLength: 6,
      })
      .map((parts) => parts.flat().join('') + 'end');
    const name = fc.constantFrom('To', 'SUBJECT', 'reply-to', 'X-Other', 'List-Unsubscribe', 'Content-Type');
    const field = fc
      .tuple(name, blank, foldedValue, blank)
      .map(([field, before, value, after]) => `${field}:${before}${value}${after}`);
    const line = fc
      .array(fc.oneof(word, fc.constantFrom(' ', '  ', '\t', '.')), { maxLength: 8 })
      .map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(fc.array(field, { maxLength: 8 }), fc.array(line, { maxLength: 8 }), async (fields, lines) => {
        const raw = [`From: a@${DOMAIN}`, ...fields, '', ...lines, ''].join('\r\n');
        expect(await verify(await signer.sign(Buffer.from(raw, 'latin1')))).toEqual(PASS);
      }),
      { numRuns: 120 },
    );
  });
});

describe('a DKIM keyring', () => {
  it('creates RSA keys of 2048 bits, each with its own selector', async () => {
    const other = await keyring.generate(OWNER);
    expect(other.selector).not.toBe(pair.selector);
    expect(keyring.open(other.sealedPrivateKey, OWNER).asymmetricKeyDetails?.modulusLength).toBe(2048);
  });

  it('stores nothing that can be read as a key', () => {
    expect(() => createPrivateKey({ key: pair.sealedPrivateKey, format: 'der', type: 'pkcs8' })).toThrow();
    const plain = keyring.open(pair.sealedPrivateKey, OWNER).export({ type: 'pkcs8', format: 'der' });
    expect(pair.sealedPrivateKey.includes(plain.subarray(0, 64))).toBe(false);
  });

  it('opens a key under the same secret and for the same owner only, unaltered', () => {
    const altered = Buffer.from(pair.sealedPrivateKey);
    altered[altered.length - 1]! ^= 1;
    expect(() => keyring.open(altered, OWNER)).toThrow(DkimKeyError);
    expect(() => keyring.open(pair.sealedPrivateKey, 'another')).toThrow(DkimKeyError);
    expect(() => createDkimKeyring('some other secret of a test run').open(pair.sealedPrivateKey, OWNER)).toThrow(
      DkimKeyError,
    );
    expect(() => keyring.open(Buffer.alloc(3), OWNER)).toThrow(DkimKeyError);
  });
});
