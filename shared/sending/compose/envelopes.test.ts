import { describe, expect, it } from '@jest/globals';
import { createEnvelopes } from './envelopes.ts';
import { createVerp } from './verp.ts';

const APP_SECRET = 'a secret of at least 32 characters';
const emailId = '01890000-0000-7000-8000-000000000000';
const mail = { emailId, from: 'news@shop.test', to: 'ada@mail.test', returnPathHost: undefined };

describe('createEnvelopes', () => {
  it('uses the address of the header From without an inbound domain, and requests no receipt', () => {
    const envelopeOf = createEnvelopes({ APP_SECRET, DELIVERY_RECEIPTS: true });
    expect(envelopeOf({ ...mail, returnPathHost: 'bounce.shop.test' })).toEqual({
      from: 'news@shop.test',
      to: 'ada@mail.test',
    });
  });

  it('names the email in the envelope sender, at the inbound domain or at the return path of the sender domain', () => {
    const envelopeOf = createEnvelopes({ APP_SECRET, INBOUND_DOMAIN: 'In.Everpost.test', DELIVERY_RECEIPTS: false });
    const own = envelopeOf(mail);
    const aligned = envelopeOf({ ...mail, returnPathHost: 'bounce.shop.test' });
    expect(own).toEqual({ from: expect.stringMatching(/^bounce\+[a-z2-7]{40}@in\.everpost\.test$/), to: mail.to });
    expect(aligned.from).toBe(own.from.replace('in.everpost.test', 'bounce.shop.test'));
    const verp = createVerp({ appSecret: APP_SECRET, domain: 'in.everpost.test' });
    expect([own, aligned].map(({ from }) => verp.readAddress(from))).toEqual([emailId, emailId]);
  });

  it('requests a receipt with the id of the email if that is configured', () => {
    const envelopeOf = createEnvelopes({ APP_SECRET, INBOUND_DOMAIN: 'in.everpost.test', DELIVERY_RECEIPTS: true });
    expect(envelopeOf(mail).receiptId).toBe(emailId);
  });
});
