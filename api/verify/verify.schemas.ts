import { z } from 'zod';
import { emailAddressSchema } from '../../shared/pure/emails/email-address.ts';
import { answeredAddress } from '../http/answered-address.ts';

export const verifyBody = z.object({ email: emailAddressSchema });

export const addressVerificationSchema = z
  .object({
    email: z.string(),
    valid: z.boolean().meta({ description: 'Whether email to the domain can be delivered' }),
    isDisposable: z.boolean().meta({ description: 'The domain belongs to a service for disposable addresses' }),
    isAlias: z.boolean().meta({ description: 'The domain belongs to a service that forwards mail' }),
    isTypo: z.boolean().meta({ description: 'The domain is probably misspelt' }),
    isPlusAddressed: z.boolean(),
    isPersonalEmail: z.boolean().meta({ description: 'The domain belongs to a mailbox provider that anybody can use' }),
    domainExists: z.boolean().meta({ description: 'DNS has name servers for the domain' }),
    hasWebsite: z.boolean().meta({ description: 'The domain has A or AAAA records; informational' }),
    hasMxRecords: z.boolean().meta({ description: 'A null MX (RFC 7505) counts as none' }),
    suggestedEmail: answeredAddress.optional().meta({ description: 'Present when a typo is detected' }),
    reasons: z.array(z.string()).meta({ description: 'The reasons for the result, in words' }),
  })
  .meta({ id: 'AddressVerification', description: 'What is known of an address' });
