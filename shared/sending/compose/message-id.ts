import { domainToASCII } from 'node:url';
import { domainOf } from '../../pure/emails/email-address.ts';

/**
 * Creates the Message-IDs of emails from an address, without angle brackets. They are the same at each delivery
 * attempt, at the domain of the header From in ASCII.
 */
export function messageIdsOf(fromAddress: string): (emailId: string) => string {
  const domain = domainOf(fromAddress);
  const host = domainToASCII(domain) || domain;
  return (emailId) => `${emailId}@${host}`;
}

/** The Message-ID of one email; see `messageIdsOf`. */
export function messageIdOf(emailId: string, fromAddress: string): string {
  return messageIdsOf(fromAddress)(emailId);
}
