import { describe, expect, it } from '@jest/globals';
import { createLinkSigner, encodeClickTarget } from '../sending/compose/links.ts';
import { createVerp } from '../sending/compose/verp.ts';
import { createSealer, SealError, secretId } from './sealed-values.ts';

const [OLD, NEW, OTHER] = ['old', 'new', 'other'].map((name) => `the ${name} secret of a test, long enough`) as [
  string,
  string,
  string,
];
const PURPOSE = 'a purpose';
const plain = Buffer.from('what is sealed');
const rotated = { appSecret: NEW, previousSecrets: [OTHER, OLD] };

describe('a sealer', () => {
  it('opens values sealed under APP_SECRET or an earlier one', () => {
    const sealer = createSealer(rotated, PURPOSE);
    for (const secret of [OLD, NEW, OTHER]) {
      const sealed = createSealer({ appSecret: secret }, PURPOSE).seal(plain, 'me');
      expect(sealer.open(sealed, 'me')).toEqual(plain);
    }
  });

  it('opens no value of another secret, owner or purpose, and no altered value', () => {
    const sealed = createSealer({ appSecret: NEW }, PURPOSE).seal(plain, 'me');
    expect(() => createSealer({ appSecret: OLD }, PURPOSE).open(sealed, 'me')).toThrow(SealError);
    expect(() => createSealer(rotated, PURPOSE).open(sealed, 'you')).toThrow(SealError);
    expect(() => createSealer(rotated, 'another purpose').open(sealed, 'me')).toThrow(SealError);
    for (const altered of [Buffer.alloc(0), sealed.subarray(1), Buffer.concat([sealed, Buffer.alloc(1)])]) {
      expect(() => createSealer(rotated, PURPOSE).open(altered, 'me')).toThrow('APP_SECRETS_PREVIOUS');
    }
  });

  it('recognizes values sealed under APP_SECRET itself', () => {
    const sealer = createSealer(rotated, PURPOSE);
    expect(sealer.isCurrent(sealer.seal(plain, 'me'))).toBe(true);
    expect(sealer.isCurrent(createSealer({ appSecret: OLD }, PURPOSE).seal(plain, 'me'))).toBe(false);
  });

  it('distinguishes secrets by an id that reveals nothing of them', () => {
    expect(secretId(OLD)).toMatch(/^[\da-f]{16}$/);
    expect(secretId(OLD)).not.toBe(secretId(NEW));
  });
});

describe('after a rotation of APP_SECRET', () => {
  const ref = { contactId: '01890000-0000-7000-8000-000000000001', emailId: '01890000-0000-7000-8000-000000000002' };
  const publicUrl = 'https://e.test';
  const before = createLinkSigner({ appSecret: OLD, publicUrl }).recipientUrls({ ...ref, projectId: ref.contactId });
  const tokenOf = (url: string) => url.slice(url.lastIndexOf('/') + 1).replace('.gif', '');
  const clickUrl = before.clickUrl(encodeClickTarget('https://shop.test/'));

  it('links of earlier emails are read as long as their secret is among the previous ones', () => {
    const signer = createLinkSigner({ ...rotated, publicUrl });
    expect(signer.readRecipientToken(tokenOf(before.unsubscribeUrl))).toEqual(ref);
    expect(signer.readOpenToken(tokenOf(before.openUrl))).toBe(ref.emailId);
    expect(signer.readClickToken(tokenOf(clickUrl))).toMatchObject({ emailId: ref.emailId, url: 'https://shop.test/' });
    const dropped = createLinkSigner({ appSecret: NEW, previousSecrets: [OTHER], publicUrl });
    expect(dropped.readRecipientToken(tokenOf(before.unsubscribeUrl))).toBeUndefined();
    expect(dropped.readOpenToken(tokenOf(before.openUrl))).toBeUndefined();
    expect(dropped.readClickToken(tokenOf(clickUrl))).toBeUndefined();
  });

  it('links are signed with the new secret', () => {
    const after = createLinkSigner({ ...rotated, publicUrl }).recipientUrls({ ...ref, projectId: ref.contactId });
    expect(after.unsubscribeUrl).toBe(
      createLinkSigner({ appSecret: NEW, publicUrl }).recipientUrls({ ...ref, projectId: ref.contactId })
        .unsubscribeUrl,
    );
    expect(after.openUrl).not.toBe(before.openUrl);
  });

  it('envelope senders of earlier emails are read as long as their secret is among the previous ones', () => {
    const domain = 'in.everpost.test';
    const path = createVerp({ appSecret: OLD, domain }).returnPath(ref.emailId);
    expect(createVerp({ ...rotated, domain }).readAddress(path)).toBe(ref.emailId);
    expect(createVerp({ appSecret: NEW, domain }).readAddress(path)).toBeUndefined();
    expect(createVerp({ ...rotated, domain }).returnPath(ref.emailId)).not.toBe(path);
  });
});
