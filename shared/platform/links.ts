import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { RecipientUrls } from '../pure/render-scope.ts';

const SIGNATURE_BYTES = 16;
const UUID_BYTES = 16;

export interface RecipientRef {
  contactId: string;
  emailId: string;
}

export interface LinkSigner {
  /** The links of one contact in one mail. They never expire: an old mail's unsubscribe link must work. */
  recipientUrls: (recipient: RecipientRef) => RecipientUrls;
  /** Whom a token was made for; undefined when it was not made here or was altered. */
  readRecipientToken: (token: string) => RecipientRef | undefined;
}

function uuidToBytes(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

function bytesToUuid(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Signs the links in mail with a key derived from APP_SECRET (HKDF, RFC 5869; HMAC-SHA-256 cut to 128 bits). */
export function createLinkSigner(options: { appSecret: string; publicUrl: string }): LinkSigner {
  const key = Buffer.from(hkdfSync('sha256', options.appSecret, '', 'everpost recipient links', 32));
  const sign = (payload: Buffer): Buffer => createHmac('sha256', key).update(payload).digest().subarray(0, SIGNATURE_BYTES);

  return {
    recipientUrls({ contactId, emailId }) {
      let token: string | undefined;
      const link = (page: string): string => {
        if (token === undefined) {
          const payload = Buffer.concat([uuidToBytes(contactId), uuidToBytes(emailId)]);
          token = Buffer.concat([payload, sign(payload)]).toString('base64url');
        }
        return `${options.publicUrl}/${page}/${token}`;
      };
      return {
        get unsubscribeUrl() {
          return link('unsubscribe');
        },
        get subscribeUrl() {
          return link('subscribe');
        },
        get manageUrl() {
          return link('manage');
        },
      };
    },
    readRecipientToken(token) {
      if (!/^[\w-]{64}$/.test(token)) return undefined;
      const bytes = Buffer.from(token, 'base64url');
      const payload = bytes.subarray(0, 2 * UUID_BYTES);
      if (!timingSafeEqual(sign(payload), bytes.subarray(2 * UUID_BYTES))) return undefined;
      return { contactId: bytesToUuid(payload.subarray(0, UUID_BYTES)), emailId: bytesToUuid(payload.subarray(UUID_BYTES)) };
    },
  };
}
