import { expect } from '@jest/globals';
import fc from 'fast-check';
import { simpleParser, type ParsedMail } from 'mailparser';
import { composeSteps, type OutgoingMessage } from '../../shared/sending/compose/mime/compose.ts';
import { finish } from '../../shared/pure/steps.ts';

/** The header fields that every message has. */
export const BASIC_FIELDS = ['From', 'To', 'Subject', 'Date', 'Message-ID', 'MIME-Version', 'Content-Type'];

/** One pixel. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** A message as the octets that are sent. */
export const composeMessage = (content: OutgoingMessage) =>
  Buffer.from(finish(composeSteps(content)) as string, 'latin1');

export function message(overrides: Partial<OutgoingMessage> = {}): OutgoingMessage {
  return {
    from: { address: 'news@example.com', name: 'Example' },
    to: { address: 'ann@example.org' },
    subject: 'Hello',
    html: '<p>Hello</p>',
    text: 'Hello',
    messageId: '<0190c0de-7000@example.com>',
    date: new Date('2025-03-04T05:06:07.890Z'),
    ...overrides,
  };
}

/** Checks what is true of every message, whatever its content. */
export function expectWireForm(raw: Buffer): void {
  const wire = raw.toString('latin1');
  expect(wire).toMatch(/^[\t\r\n\x20-\x7e\x01-\x08\x0b\x0c\x0e-\x1f\x7f]*$/);
  expect(wire.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
  expect(wire.endsWith('\r\n')).toBe(true);
  for (const line of wire.split('\r\n')) {
    expect(line.length).toBeLessThanOrEqual(998);
  }
}

/** The names of the top-level header fields, in order. */
export function fieldNames(raw: Buffer): string[] {
  const wire = raw.toString('latin1');
  const header = wire.slice(0, wire.indexOf('\r\n\r\n'));
  return header
    .split('\r\n')
    .filter((line) => !/^[ \t]/.test(line))
    .map((line) => line.slice(0, line.indexOf(':')));
}

/** Text with LF as line end, as the parser returns it; messages have CRLF. */
export const toLf = (text: string | false | undefined) => (text || '').replace(/\r\n?/g, '\n');

export async function parse(raw: Buffer): Promise<ParsedMail> {
  expectWireForm(raw);
  return simpleParser(raw, { skipTextToHtml: true, skipHtmlToText: true, skipTextLinks: true, skipImageLinks: true });
}

/** Text as people type it: several scripts, emoji, odd white space, dots, markers of all kinds, no lone surrogates. */
export const prose = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }).map((text) => text.toWellFormed()),
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom(
        'Grüße',
        'Привет',
        '你好，世界',
        '👩‍👩‍👧',
        '.',
        '..',
        '\n.\n',
        '=20',
        '=?UTF-8?Q?x?=',
        '--=_a0_',
        'From ',
        '"',
        '\\',
        ' ',
      ),
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(' '));
