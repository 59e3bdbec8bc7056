import { createHash, timingSafeEqual } from 'node:crypto';
import type { RecipientUrls } from '../../pure/templates/render-scope.ts';
import type { Config } from '../../platform/config.ts';
import { deriveMacs, type Mac } from '../../platform/mac.ts';
import { createVerp } from './verp.ts';
import { appSecretsOf, type AppSecrets } from '../../platform/sealed-values.ts';
import { bytesToUuid, UUID_BYTES, uuidsToBytes } from '../../platform/uuid-bytes.ts';

const RECIPIENT_SIGNATURE_BYTES = 16;
/**
 * Together with the id of the email 30 bytes: a whole number of base64url characters, so no bit of a token is unused.
 */
const TRACKING_SIGNATURE_BYTES = 14;
const TRACKING_TOKEN_LENGTH = 40;
/** The mark of a project in a click token, before the target: the last 6 bytes of its id. */
const PROJECT_MARK_LENGTH = 8;
/** The target of the link that no person sees; those of other links begin with the mark of a project. */
const HIDDEN = '-';
/** The last part of Feedback-ID: Gmail accepts 5 to 15 characters. */
const INSTANCE_ID_LENGTH = 12;

export interface RecipientRef {
  contactId: string;
  emailId: string;
}

/** The recipient of an email that a project sends. */
interface SentTo extends RecipientRef {
  /** The links to pages elsewhere name it, so that they can be blocked. */
  projectId: string;
}

/** The links and addresses in one email that lead to this installation. */
export interface EmailLinks extends RecipientUrls {
  /** The URL of the image whose request records an open. */
  readonly openUrl: string;
  /** The link that no person sees: who follows it is a machine. */
  readonly hiddenUrl: string;
  /** The address to which a mail program may write to unsubscribe its user; undefined without INBOUND_DOMAIN. */
  readonly unsubscribeAddress: string | undefined;
  /** Names this installation to mailbox providers, which count complaints by it; the same for all its email. */
  readonly instanceId: string;
  /** The link that records a click and redirects to a target made by `encodeClickTarget`. */
  clickUrl: (target: ClickTarget) => string;
  /** Whether a URL is one of these links. A click on such a link is not recorded. */
  isOwnLink: (url: string) => boolean;
}

/** The URL that a click redirects to, encoded for a token. */
export type ClickTarget = string & { readonly brand: 'click target' };

/** What a click token says. */
export interface Click {
  /** The email that contained the link. */
  emailId: string;
  /** Where the link leads. */
  url: string;
  /** The last 12 digits of the project's id. */
  projectMark: string;
}

export interface LinkSigner {
  /** The links in one email to one contact. They never expire: the unsubscribe link of an old email must work. */
  recipientUrls: (recipient: SentTo) => EmailLinks;
  /** The link with which a person confirms an opt-in. It never expires; the opt-in does. */
  confirmUrl: (optInId: string) => string;
  /** The opt-in of the token of such a link; undefined when the token was not made here or was altered. */
  readConfirmToken: (token: string) => string | undefined;
  /** The contact and the email of a token; undefined when the token was not made here or was altered. */
  readRecipientToken: (token: string) => RecipientRef | undefined;
  /** The same of the token of a view. The other tokens of an email do not show it. */
  readViewToken: (token: string) => RecipientRef | undefined;
  /** The email of an image URL; undefined as above. */
  readOpenToken: (token: string) => string | undefined;
  /** The email of the link that no person sees; undefined as above. */
  readHiddenToken: (token: string) => string | undefined;
  /** The content of a click token; undefined as above. */
  readClickToken: (token: string) => Click | undefined;
}

/**
 * Encodes a URL for tokens. Do this once per content: for each recipient only 48 characters are added.
 *
 * The token contains the URL itself, not the key of a row. So a link costs no row, even where each recipient has a URL
 * of its own; following it takes no query; and it works when the email has been deleted. The price is length: a link is
 * longer than its URL by a third of it and 48 characters.
 */
export function encodeClickTarget(url: string): ClickTarget {
  return Buffer.from(url).toString('base64url') as ClickTarget;
}

function instanceIdOf(publicUrl: string): string {
  return createHash('sha256').update(new URL(publicUrl).hostname).digest('hex').slice(0, INSTANCE_ID_LENGTH);
}

/** Creates the link signer of this installation. */
export function linkSignerOf(
  config: Pick<Config, 'APP_SECRET' | 'APP_SECRETS_PREVIOUS' | 'publicUrl' | 'INBOUND_DOMAIN'>,
): LinkSigner {
  const { publicUrl, INBOUND_DOMAIN: inboundDomain } = config;
  return createLinkSigner({ ...appSecretsOf(config), publicUrl, inboundDomain });
}

export interface LinkSignerOptions extends AppSecrets {
  publicUrl: string;
  /** INBOUND_DOMAIN. */
  inboundDomain?: string | undefined;
}

/** Signs and reads the tokens of opens and clicks, and those of confirmations, which look like opens. @param macs the first one signs */
function createTrackingTokens(macs: ReturnType<typeof deriveMacs>) {
  /** An open is signed as a click with an empty target, which no link has. */
  function trackingToken(emailId: Buffer, target: string, mac = macs[0]): string {
    const signature = mac(target === '' ? emailId : Buffer.concat([emailId, Buffer.from(target)]));
    return Buffer.concat([emailId, signature.subarray(0, TRACKING_SIGNATURE_BYTES)]).toString('base64url');
  }

  function readTrackingToken(token: string, target: string): string | undefined {
    if (token.length !== TRACKING_TOKEN_LENGTH || !/^[\w-]+$/.test(token)) return undefined;
    const emailId = Buffer.from(token, 'base64url').subarray(0, UUID_BYTES);
    const isOurs = macs.some((mac) =>
      timingSafeEqual(Buffer.from(token), Buffer.from(trackingToken(emailId, target, mac))),
    );
    return isOurs ? bytesToUuid(emailId) : undefined;
  }

  return { trackingToken, readTrackingToken };
}

function signRecipient(payload: Buffer, mac: Mac): Buffer {
  return mac(payload).subarray(0, RECIPIENT_SIGNATURE_BYTES);
}

/** What the links of all recipients are made with. */
interface Signing extends Pick<EmailLinks, 'instanceId' | 'isOwnLink'> {
  publicUrl: string;
  verp: ReturnType<typeof createVerp> | undefined;
  trackingToken: (emailId: Buffer, target: string) => string;
  recipientMac: Mac;
  viewMac: Mac;
}

/** The links of one email. It is a class because an object with so many getters takes 2 KB and a microsecond. */
class RecipientLinks implements EmailLinks {
  readonly instanceId: string;
  readonly isOwnLink: (url: string) => boolean;
  readonly #recipient: SentTo;
  readonly #signing: Signing;
  /** The ids of the contact and of the email. */
  readonly #payload: Buffer;
  #token: string | undefined;
  #mark: string | undefined;

  constructor(recipient: SentTo, signing: Signing) {
    this.instanceId = signing.instanceId;
    this.isOwnLink = signing.isOwnLink;
    this.#recipient = recipient;
    this.#signing = signing;
    this.#payload = uuidsToBytes(recipient.contactId + recipient.emailId);
  }

  get unsubscribeUrl(): string {
    return this.#link('unsubscribe');
  }

  get subscribeUrl(): string {
    return this.#link('subscribe');
  }

  get manageUrl(): string {
    return this.#link('manage');
  }

  get viewUrl(): string {
    const { publicUrl, viewMac } = this.#signing;
    const signature = signRecipient(this.#payload, viewMac);
    return `${publicUrl}/view/${Buffer.concat([this.#payload, signature]).toString('base64url')}`;
  }

  get openUrl(): string {
    return `${this.#signing.publicUrl}/t/o/${this.#trackingToken('')}.gif`;
  }

  get hiddenUrl(): string {
    return `${this.#signing.publicUrl}/t/h/${this.#trackingToken(HIDDEN)}`;
  }

  get unsubscribeAddress(): string | undefined {
    return this.#signing.verp?.unsubscribeAddress(this.#recipient.emailId);
  }

  clickUrl(target: ClickTarget): string {
    this.#mark ??= Buffer.from(this.#recipient.projectId.slice(-12), 'hex').toString('base64url');
    const mark = this.#mark;
    return `${this.#signing.publicUrl}/t/c/${this.#trackingToken(mark + target)}${mark}${target}`;
  }

  #link(page: string): string {
    const { publicUrl, recipientMac } = this.#signing;
    const payload = this.#payload;
    this.#token ??= Buffer.concat([payload, signRecipient(payload, recipientMac)]).toString('base64url');
    return `${publicUrl}/${page}/${this.#token}`;
  }

  #trackingToken(target: string): string {
    return this.#signing.trackingToken(this.#payload.subarray(UUID_BYTES), target);
  }
}

/** The first parts of the paths of these links. */
const OWN_PAGES = ['unsubscribe', 'subscribe', 'manage', 'confirm', 'view', 't'];

/** Signs and reads the links of confirmations. */
function createConfirmLinks(
  secrets: AppSecrets,
  publicUrl: string,
): Pick<LinkSigner, 'confirmUrl' | 'readConfirmToken'> {
  const { trackingToken, readTrackingToken } = createTrackingTokens(deriveMacs(secrets, 'everpost confirmation links'));
  return {
    confirmUrl: (optInId) => `${publicUrl}/confirm/${trackingToken(uuidsToBytes(optInId), '')}`,
    readConfirmToken: (token) => readTrackingToken(token, ''),
  };
}

/**
 * Creates a signer for the links in email. It signs with keys derived from APP_SECRET (HKDF, RFC 5869; HMAC-SHA-256,
 * truncated). It also reads links that were signed with an earlier value of APP_SECRET.
 */
export function createLinkSigner({ publicUrl, inboundDomain, ...secrets }: LinkSignerOptions): LinkSigner {
  const verp = inboundDomain === undefined ? undefined : createVerp({ ...secrets, domain: inboundDomain });
  const recipientMacs = deriveMacs(secrets, 'everpost recipient links');
  const viewMacs = deriveMacs(secrets, 'everpost view links');
  const { trackingToken, readTrackingToken } = createTrackingTokens(deriveMacs(secrets, 'everpost tracking links'));
  const signing: Signing = {
    publicUrl,
    instanceId: instanceIdOf(publicUrl),
    isOwnLink: (url) => OWN_PAGES.some((page) => url.startsWith(`${publicUrl}/${page}/`)),
    verp,
    trackingToken,
    recipientMac: recipientMacs[0],
    viewMac: viewMacs[0],
  };

  function readToken(token: string, macs: typeof recipientMacs): RecipientRef | undefined {
    if (!/^[\w-]{64}$/.test(token)) return undefined;
    const bytes = Buffer.from(token, 'base64url');
    const payload = bytes.subarray(0, 2 * UUID_BYTES);
    const signature = bytes.subarray(2 * UUID_BYTES);
    if (!macs.some((mac) => timingSafeEqual(signRecipient(payload, mac), signature))) return undefined;
    return {
      contactId: bytesToUuid(payload.subarray(0, UUID_BYTES)),
      emailId: bytesToUuid(payload.subarray(UUID_BYTES)),
    };
  }

  return {
    recipientUrls: (recipient) => new RecipientLinks(recipient, signing),
    ...createConfirmLinks(secrets, publicUrl),
    readRecipientToken: (token) => readToken(token, recipientMacs),
    readViewToken: (token) => readToken(token, viewMacs),
    readOpenToken: (token) => readTrackingToken(token, ''),
    readHiddenToken: (token) => readTrackingToken(token, HIDDEN),
    readClickToken(token) {
      const target = token.slice(TRACKING_TOKEN_LENGTH);
      if (target.length <= PROJECT_MARK_LENGTH) return undefined;
      const emailId = readTrackingToken(token.slice(0, TRACKING_TOKEN_LENGTH), target);
      if (emailId === undefined) return undefined;
      return {
        emailId,
        url: Buffer.from(target.slice(PROJECT_MARK_LENGTH), 'base64url').toString(),
        projectMark: Buffer.from(target.slice(0, PROJECT_MARK_LENGTH), 'base64url').toString('hex'),
      };
    },
  };
}
