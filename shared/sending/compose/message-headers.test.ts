import { describe, expect, it } from '@jest/globals';
import { createLinkSigner } from './links.ts';
import { createMessageHeaders, type HeaderSource } from './message-headers.ts';
import { composeMessage } from '../../../tests/support/composed-messages.ts';

const ID = '01890000-0000-7000-8000-000000000001';
const PROJECT = '01890000-0000-7000-8000-000000000002';
const signer = createLinkSigner({ appSecret: 'a secret of at least 32 characters', publicUrl: 'https://e.test' });
const links = signer.recipientUrls({ contactId: ID, emailId: ID, projectId: ID });

function headersOf(source: Partial<HeaderSource>): Map<string, string> {
  const whole: HeaderSource = {
    type: 'MARKETING',
    source: 'campaign',
    sourceId: ID,
    projectId: PROJECT,
    from: 'a@bücher.example',
    listName: null,
    topic: null,
    ...source,
  };
  return new Map(createMessageHeaders(whole)(links));
}

const BULK = ['Feedback-ID', 'List-Id', 'Precedence', 'List-Unsubscribe', 'List-Unsubscribe-Post'];
const AUTOMATIC = ['Feedback-ID', 'Auto-Submitted'];

describe('the headers of an email', () => {
  it.each([
    ['MARKETING', 'campaign', BULK],
    ['HEADLESS', 'campaign', BULK],
    ['TRANSACTIONAL', 'campaign', ['Feedback-ID']],
    ['TRANSACTIONAL', 'request', AUTOMATIC],
    ['TRANSACTIONAL', 'automation', AUTOMATIC],
    ['HEADLESS', 'automation', [...BULK, 'Auto-Submitted']],
    ['MARKETING', 'request', BULK],
  ] as const)('of type %s from a %s are %j', (type, source, names) => {
    expect([...headersOf({ type, source }).keys()].sort()).toEqual([...names].sort());
  });

  it('have a Feedback-ID of four fields, the last of 5 to 15 characters and the same for all email', () => {
    const fields = headersOf({}).get('Feedback-ID')?.split(':') ?? [];
    expect(fields.slice(0, 3)).toEqual([ID, PROJECT, 'marketing']);
    expect(fields).toHaveLength(4);
    expect(fields[3]).toMatch(/^[a-z0-9]{5,15}$/);
    const inline = headersOf({ type: 'TRANSACTIONAL', source: 'request', sourceId: null }).get('Feedback-ID');
    expect(inline).toBe(`none:${PROJECT}:transactional:${fields[3]}`);
  });

  it('have a List-Id below the sender domain, in ASCII and no longer than RFC 2919 allows', () => {
    expect(headersOf({}).get('List-Id')).toBe(`<${PROJECT}.xn--bcher-kva.example>`);
    const long = Array.from({ length: 4 }, () => 'a'.repeat(60)).join('.');
    expect(headersOf({ from: `a@${long}` }).has('List-Id')).toBe(false);
  });

  it('have the List-Id of the topic, which stays the same when the topic is renamed', () => {
    const listIdOf = (name: string) => headersOf({ topic: { id: ID, name }, listName: 'Tea' }).get('List-Id');
    expect(listIdOf('News')).toBe(`"News" <${ID}.xn--bcher-kva.example>`);
    expect(listIdOf('Old "news"')).toBe(`"Old \\"news\\"" <${ID}.xn--bcher-kva.example>`);
    expect(headersOf({ type: 'TRANSACTIONAL', topic: { id: ID, name: 'News' } }).has('List-Id')).toBe(false);
  });

  it.each([
    ['Tea', 'Tea'],
    ['Tea & "Co" \\ <Sons>', '"Tea & \\"Co\\" \\\\ <Sons>"'],
    ['Tee für <alle>', '=?UTF-8?B?VGVlIGbDvHIgPGFsbGU+?='],
    ['=?UTF-8?Q?x?=', expect.stringMatching(/^=\?UTF-8\?[QB]\?[^ ?]+\?=$/)],
  ])('have a List-Id with the name %j of the list before it', (listName, phrase) => {
    const from = 'a@e.test';
    const message = composeMessage({
      from: { address: from },
      to: { address: 'b@e.test' },
      subject: 'Hello',
      html: '<p>Hello',
      text: 'Hello',
      messageId: `${ID}@e.test`,
      date: new Date(),
      headers: [...headersOf({ from, listName })],
    });
    const head = message.toString('latin1').replace(/\r\n[ \t]+/g, ' ');
    const [, found, id] = /^List-Id: (.*) <([^<>]*)>\r$/m.exec(head) ?? [];
    expect([found, id]).toEqual([phrase, `${PROJECT}.e.test`]);
  });

  it('are in the message unchanged, and those of a caller replace them', () => {
    const message = composeMessage({
      from: { address: 'a@e.test' },
      to: { address: 'b@e.test' },
      subject: 'Hello',
      html: '<p>Hello',
      text: 'Hello',
      messageId: `${ID}@e.test`,
      date: new Date(),
      headers: [...headersOf({ type: 'HEADLESS', source: 'automation' }), ['auto-submitted', 'no']],
    });
    const head = message.toString('latin1').replace(/\r\n[ \t]+/g, ' ');
    expect(head).toContain(`Feedback-ID: ${headersOf({ type: 'HEADLESS' }).get('Feedback-ID')}\r\n`);
    expect(head).toContain(`List-Unsubscribe: <${links.unsubscribeUrl}>\r\n`);
    expect(head.match(/^auto-submitted: .*$/gim)).toEqual(['auto-submitted: no']);
  });
});
