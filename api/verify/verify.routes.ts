import { z } from 'zod';
import { emailAddressSchema } from '../../shared/pure/emails/email-address.ts';
import { answeredAddress } from '../http/answered-address.ts';
import { model } from '../../shared/pure/model.ts';
import { endpointsOf, ok } from '../http/endpoint.ts';

const endpoint = endpointsOf('Public API');

const verifyBody = z.object({ email: emailAddressSchema });

const addressVerificationSchema = model('AddressVerification', 'What is known of an address', {
  email: z.string(),
  valid: z.boolean().describe('Whether email to the domain can be delivered'),
  isDisposable: z.boolean().describe('The domain belongs to a service for disposable addresses'),
  isAlias: z.boolean().describe('The domain belongs to a service that forwards mail'),
  isTypo: z.boolean().describe('The domain is probably misspelt'),
  isPlusAddressed: z.boolean(),
  isPersonalEmail: z.boolean().describe('The domain belongs to a mailbox provider that anybody can use'),
  domainExists: z.boolean().describe('DNS has name servers for the domain'),
  hasWebsite: z.boolean().describe('The domain has A or AAAA records; informational'),
  hasMxRecords: z.boolean().describe('A null MX (RFC 7505) counts as none'),
  suggestedEmail: answeredAddress.optional().describe('Present when a typo is detected'),
  reasons: z.array(z.string()).describe('The reasons for the result, in words'),
});

export const verifyEndpoint = endpoint('verifyEmail', 'POST /v1/verify', {
  roles: ['send', 'marketing'],
  effect: 'data',
  summary: 'Verify an address before an email is sent to it',
  description: 'Checks the format, and the domain in DNS. No email is sent. Answers within five seconds.',
  isRemote: true,
  hasEnvelope: true,
  body: verifyBody,
  replies: { 200: { description: 'What is known of the address', schema: addressVerificationSchema } },
  handle: async ({ body, deps }) => ok(await deps.verifyAddress(body.email)),
});
