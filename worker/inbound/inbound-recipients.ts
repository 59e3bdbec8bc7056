import { domainToASCII } from 'node:url';
import { findReplyAddressOwner, REPORT_MAILBOXES, toReplyAddress } from '../../shared/domain/emails/reply-addresses.ts';
import type { Em } from '../../shared/database/sql.ts';
import type { Verp } from '../../shared/sending/compose/verp.ts';
import { isReturnPathHost } from '../../shared/pure/emails/return-path.ts';
import { isOperatorMailbox, POSTMASTER } from './operator-mail.ts';
import { createReplyAddressBook } from './reply-address-book.ts';

/** An address that the listener accepts. */
export type InboundRecipient =
  | { kind: 'email'; emailId: string; address: string }
  | { kind: 'unsubscribe'; emailId: string }
  | { kind: 'replyTo'; projectId: string; address: string }
  | { kind: 'reports' };

/**
 * Finds what an address is for; undefined when the listener does not accept it, `later` when a lookup is not allowed
 * for this client (`mayGuess`).
 */
export type FindRecipient = (
  address: string,
  mayGuess: () => boolean,
) => Promise<InboundRecipient | undefined | 'later'>;

export interface RecipientOptions {
  em: () => Em;
  verp: Verp;
  domain: string;
  /** Whether there is an operator who reads email (OPERATOR_EMAIL). */
  hasOperator: boolean;
}

const REPORTS: InboundRecipient = { kind: 'reports' };

/** Creates the lookup of the addresses that the listener accepts. */
export function createRecipientFinder({ em, verp, domain, hasOperator }: RecipientOptions): FindRecipient {
  const inboundHost = domainToASCII(domain) || domain.toLowerCase();
  const replyAddresses = createReplyAddressBook({ find: (address) => findReplyAddressOwner(em(), address) });

  /** Whether an address is a mailbox for reports. Without an operator there is no postmaster. */
  function isReportMailbox(local: string, host: string): boolean {
    if (hasOperator && isReturnPathHost(host) && isOperatorMailbox(local)) return true;
    return host === inboundHost && REPORT_MAILBOXES.has(local) && (hasOperator || local !== POSTMASTER);
  }

  return async (text, mayGuess) => {
    const address = toReplyAddress(text);
    const emailId = verp.readAddress(address);
    if (emailId !== undefined) return { kind: 'email', emailId, address };
    const unsubscribed = verp.readUnsubscribeAddress(address);
    if (unsubscribed !== undefined) return { kind: 'unsubscribe', emailId: unsubscribed };
    const at = address.lastIndexOf('@');
    const host = address.slice(at + 1);
    // RFC 5321 section 4.5.1: "postmaster" is also accepted without a domain.
    if (hasOperator && address === POSTMASTER) return REPORTS;
    if (isReportMailbox(address.slice(0, at), host)) return REPORTS;
    const isReserved = host === inboundHost && REPORT_MAILBOXES.has(address.slice(0, at));
    if (host !== inboundHost || isReserved) return mayGuess() ? undefined : 'later';
    const owner = await replyAddresses.ownerOf(address, mayGuess);
    if (owner === 'later') return owner;
    return owner === 'unknown' ? undefined : { kind: 'replyTo', address, ...owner };
  };
}
