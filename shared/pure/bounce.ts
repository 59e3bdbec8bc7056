/**
 * What a permanent status speaks of when not of the address itself: a full mailbox (5.2.2), a message that is too big
 * (5.2.3, 5.3.4), its content (5.6) or the policy of the server, such as its opinion of our own address (5.7). RFC 3463.
 */
const NOT_THE_ADDRESS = /^5\.(?:2\.[23]|3\.4|6\.\d{1,3}|7\.\d{1,3})$/;

/**
 * Whether a mail that came back with this status says that the address will never take mail (`hard`), or only that
 * this mail was not taken (`soft`).
 * @param status enhanced status code (RFC 3463), such as 5.1.1
 */
export function bounceTypeOf(status: string): 'hard' | 'soft' {
  return status.startsWith('5.') && !NOT_THE_ADDRESS.test(status) ? 'hard' : 'soft';
}
