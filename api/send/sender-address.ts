import { emailAddressSchema } from '../../shared/pure/emails/email-address.ts';
import { isWireAddress } from '../../shared/platform/smtp/wire-address.ts';

/**
 * An address that mail may come from or be answered to. A recipient without an ASCII form is one mail that fails; a
 * sender without one would be a campaign that never ends.
 */
export const senderAddressSchema = emailAddressSchema
  .refine(isWireAddress, {
    error: 'Must have only ASCII letters before the @ and a domain name after it',
    params: { code: 'invalid_string' },
  })
  .meta({ format: 'email', examples: ['news@example.com'] });
