import { createAddressVerifier } from '../../shared/domain/address-verification/verify-address.ts';
import type { Config } from '../../shared/platform/config.ts';
import { createDnsResolver } from '../../shared/platform/dns/resolver.ts';
import { endpointsOf, ok, type Endpoint } from '../http/endpoint.ts';
import { addressVerificationSchema, verifyBody } from './verify.schemas.ts';

const endpoint = endpointsOf('Public API');

/** Creates the endpoint that verifies an address. */
export function createVerifyEndpoints(config: Config): Endpoint[] {
  const verifyAddress = createAddressVerifier(createDnsResolver({ servers: config.DNS_SERVERS }));

  const verify = endpoint('verifyEmail', 'POST /v1/verify', {
    roles: ['send', 'marketing'],
    effect: 'data',
    summary: 'Verify an address before an email is sent to it',
    description: 'Checks the format, and the domain in DNS. No email is sent. Answers within five seconds.',
    isRemote: true,
    hasEnvelope: true,
    body: verifyBody,
    replies: { 200: { description: 'What is known of the address', schema: addressVerificationSchema } },
    async handle({ body }) {
      return ok(await verifyAddress(body.email));
    },
  });

  return [verify];
}
