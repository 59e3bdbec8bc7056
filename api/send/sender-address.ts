import { emailAddressSchema } from '../../shared/pure/emails/email-address.ts';
import {
  isRecipientAddress,
  isWireAddress,
  NO_SENDER,
  NOT_MAILABLE,
} from '../../shared/sending/transport/wire-address.ts';

/** An address that an email can go to. No other is stored for a contact, because campaigns would count it and fail. */
export const recipientAddressSchema = emailAddressSchema
  .refine(isRecipientAddress, {
    error: NOT_MAILABLE,
    params: { code: 'invalid_string' },
  })
  .meta({ format: 'email', examples: ['ada@example.com'] });

/** A From or Reply-To address. It must have an ASCII form, or most servers would not take the message. */
export const senderAddressSchema = emailAddressSchema
  .refine(isWireAddress, {
    error: NO_SENDER,
    params: { code: 'invalid_string' },
  })
  .meta({ format: 'email', examples: ['news@example.com'] });
