export { Everpost, type EverpostOptions, type Sent } from './client.ts';
export { EverpostError, type ErrorCode, type FieldError } from './errors.ts';
export type { Schemas } from './operations.ts';
export { verifyWebhook, WebhookVerificationError, type VerifyWebhookOptions, type WebhookEvent } from './webhooks.ts';
