export { Everpost, type EverpostOptions, type Sent } from './client.ts';
export { EverpostError, type ErrorCode, type FieldError } from './errors.ts';
/** The records and the bodies of requests by their names in the reference, such as `Campaign`. */
export type * from './schema.ts';
export { verifyWebhook, WebhookVerificationError, type VerifyWebhookOptions, type WebhookEvent } from './webhooks.ts';
