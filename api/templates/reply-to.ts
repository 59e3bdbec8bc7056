import type { ReplyAddressUse } from '../../shared/domain/emails/reply-addresses.ts';
import type { Config } from '../../shared/platform/config.ts';

/** The reply address that a template or a campaign claims. */
export function replyToUse(
  config: Pick<Config, 'INBOUND_DOMAIN'>,
  projectId: string,
  replyTo: string | null | undefined,
): ReplyAddressUse {
  return { projectId, address: replyTo, inboundDomain: config.INBOUND_DOMAIN, field: 'replyTo' };
}
