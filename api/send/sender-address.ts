import { emailAddressSchema } from '../../shared/pure/emails/email-address.ts';
import { isWireAddress, NOT_MAILABLE } from '../../shared/sending/transport/wire-address.ts';

/** An address that an email can go to. No other is stored for a contact, because campaigns would count it and fail. */
export const recipientAddressSchema = emailAddressSchema
  .refine(isWireAddress, {
    error: NOT_MAILABLE,
    params: { code: 'invalid_string' },
  })
  .meta({ format: 'email', examples: ['ada@example.com'] });

/** A From or Reply-To address. It must have an ASCII form, because no message can be sent with another one. */
export const senderAddressSchema = emailAddressSchema
  .refine(isWireAddress, {
    error: 'Must have only ASCII characters before the @ and a domain name after it',
    params: { code: 'invalid_string' },
  })
  .meta({ format: 'email', examples: ['news@example.com'] });
