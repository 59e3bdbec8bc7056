/** The workflow types, by the names they are started under. A name, once released, is never changed. */
export { campaign } from './campaigns/campaign.ts';
export { emailDelivery } from './emails/email-delivery.ts';
export { cleanUp } from './maintenance/clean-up.ts';
