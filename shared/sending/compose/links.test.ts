import { describe, expect, it } from '@jest/globals';
import { createLinkSigner, encodeClickTarget } from './links.ts';
import { createMessageHeaders } from './message-headers.ts';
import { createVerp } from './verp.ts';

const CONTACT = '0192a000-0000-7000-8000-000000000001';
const EMAIL = '0192a000-0000-7000-8000-000000000002';
const PROJECT = '0192a000-0000-7000-8000-0000000000a3';
const signer = createLinkSigner({ appSecret: 'a secret of at least 32 characters', publicUrl: 'https://e.test' });
const links = signer.recipientUrls({ contactId: CONTACT, emailId: EMAIL, projectId: PROJECT });

function tokenOf(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1);
}

/** Every text that differs from `token` in one character. */
function* neighbours(token: string): Generator<string> {
  for (let i = 0; i < token.length; i++) {
    for (const character of ['A', 'B', 'Q', 'g', 'w', '_']) {
      if (token[i] !== character) yield token.slice(0, i) + character + token.slice(i + 1);
    }
  }
}

describe('links in mail', () => {
  it('name the contact, the email, the project and the URL that they were made for', () => {
    const url = 'https://shop.test/search?q=a%20b&lang=fr#top';
    expect(signer.readRecipientToken(tokenOf(links.unsubscribeUrl))).toEqual({ contactId: CONTACT, emailId: EMAIL });
    expect(signer.readOpenToken(tokenOf(links.openUrl).replace('.gif', ''))).toBe(EMAIL);
    expect(signer.readClickToken(tokenOf(links.clickUrl(encodeClickTarget(url))))).toEqual({
      emailId: EMAIL,
      url,
      projectMark: '0000000000a3',
    });
  });

  it('are refused with any one character changed', () => {
    const click = tokenOf(links.clickUrl(encodeClickTarget('https://shop.test/')));
    const open = tokenOf(links.openUrl).replace('.gif', '');
    const recipient = tokenOf(links.manageUrl);
    expect([...neighbours(click)].filter((token) => signer.readClickToken(token))).toEqual([]);
    expect([...neighbours(open)].filter((token) => signer.readOpenToken(token))).toEqual([]);
    expect([...neighbours(recipient)].filter((token) => signer.readRecipientToken(token))).toEqual([]);
  });

  it('are refused when cut, extended, of another kind or of another installation', () => {
    const click = tokenOf(links.clickUrl(encodeClickTarget('https://shop.test/')));
    const open = tokenOf(links.openUrl).replace('.gif', '');
    const foreign = createLinkSigner({
      appSecret: 'another secret of 32 characters and more',
      publicUrl: 'https://e.test',
    });
    expect(signer.readClickToken(click.slice(0, -1))).toBeUndefined();
    expect(signer.readClickToken(`${click}A`)).toBeUndefined();
    expect(signer.readClickToken(open)).toBeUndefined();
    expect(signer.readOpenToken(click)).toBeUndefined();
    expect(signer.readOpenToken(click.slice(0, 40))).toBeUndefined();
    expect(foreign.readClickToken(click)).toBeUndefined();
    expect(foreign.readRecipientToken(tokenOf(links.manageUrl))).toBeUndefined();
    for (const junk of ['', 'x', '%00', 'é'.repeat(40), '../../etc/passwd']) {
      expect([signer.readClickToken(junk), signer.readOpenToken(junk), signer.readRecipientToken(junk)]).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
    }
  });
});

describe('List-Unsubscribe of marketing email', () => {
  const secrets = { appSecret: 'a secret of at least 32 characters' };
  const headersOf = (inboundDomain?: string) => {
    const urls = createLinkSigner({ ...secrets, publicUrl: 'https://e.test', inboundDomain }).recipientUrls({
      contactId: CONTACT,
      emailId: EMAIL,
      projectId: PROJECT,
    });
    const headersFor = createMessageHeaders({
      type: 'MARKETING',
      source: 'campaign',
      sourceId: EMAIL,
      projectId: CONTACT,
      from: 'a@e.test',
      listName: null,
      topic: null,
    });
    return new Map(headersFor(urls));
  };

  it('has a link, and an address as well when there is an inbound domain', () => {
    expect(headersOf().get('List-Unsubscribe')).toBe(`<${links.unsubscribeUrl}>`);
    const header = headersOf('in.e.test').get('List-Unsubscribe') ?? '';
    const [, url, address = ''] = /^<(.*)>, <mailto:(.*)\?subject=unsubscribe>$/.exec(header) ?? [];
    expect(url).toBe(links.unsubscribeUrl);
    const verp = createVerp({ ...secrets, domain: 'in.e.test' });
    expect(verp.readUnsubscribeAddress(address.toUpperCase())).toBe(EMAIL);
    expect(verp.readAddress(address)).toBeUndefined();
    expect(verp.readUnsubscribeAddress(address.replace('in.e.test', 'bounce.e.test'))).toBeUndefined();
    expect(verp.readUnsubscribeAddress(verp.returnPath(EMAIL).replace('bounce', 'unsubscribe'))).toBeUndefined();
  });
});
