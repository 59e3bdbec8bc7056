import { beforeAll, describe, expect, it } from '@jest/globals';
import MiniSearch from 'minisearch';
import { createTestSite } from '../../../tests/support/docs-site.ts';
import { find, INDEX_OPTIONS } from '../assets/search-terms.js';

let index: MiniSearch;
beforeAll(async () => {
  const site = await createTestSite();
  index = MiniSearch.loadJSON(await site.searchIndex(), INDEX_OPTIONS);
});

/** What people type, and a page that must be among the first. */
const QUERIES = [
  ['scheduledAt', 'guides/first-email'],
  ['bcc', 'reference/sendEmail'],
  ['preheader', 'guides/recipients'],
  ['allowReentry', 'reference/createWorkflow'],
  ['memberOfSegment', 'guides/segments'],
  ['publicKeyRules', 'keys'],
  ['RateLimit-Remaining', 'guides/retries'],
  ['Idempotency-Key', 'guides/retries'],
  ['VALIDATION_ERROR', 'errors/VALIDATION_ERROR'],
  ['validation eror', 'errors/VALIDATION_ERROR'],
  ['ROLE_REFUSED', 'errors/ROLE_REFUSED'],
  ['429', 'guides/retries'],
  ['rate limit', 'errors/RATE_LIMIT_EXCEEDED'],
  ['DATABASE_POOL_SIZE', 'configuration'],
  ['SMTP_URL', 'configuration'],
  ['APP_SECRET', 'operations'],
  ['retention days', 'configuration'],
  ['/v1/send', 'reference/sendEmail'],
  ['POST /v1/track', 'reference/track'],
  ['GET /contacts/{id}', 'reference/getContact'],
  ['contacts/import', 'reference/importContacts'],
  ['how do I send an email', 'reference/sendEmail'],
  ['first email', 'guides/first-email'],
  ['idempotancy', 'guides/retries'],
  ['pause a campain', 'reference/pauseCampaign'],
  ['resend campaign', 'reference/resendCampaign'],
  ['unsubscribe link', 'guides/preferences'],
  ['double opt-in', 'double-opt-in'],
  ['webhook signature', 'webhooks'],
  ['dkim', 'guides/domains'],
  ['dmarc', 'reference/createDomain'],
  ['import csv', 'guides/contacts'],
  ['filter operators', 'guides/segments'],
  ['delete contact', 'reference/deleteContact'],
  ['gdpr export', 'guides/consent'],
  ['rotate key', 'keys'],
  ['suppressed address', 'guides/bounces'],
  ['backup', 'operations'],
  ['kubernetes', 'operations'],
  ['prometheus metrics', 'operations'],
  ['retry failed execution', 'reference/retryWorkflowExecution'],
  ['django', 'guides/smtp'],
  ...(['plunk', 'listmonk', 'mailchimp', 'resend', 'sendgrid'] as const).map(
    (tool) => [`moving from ${tool}`, `guides/moving-from-${tool}`] as const,
  ),
  ['mailchimp', 'guides/moving-from-mailchimp'],
  ['listmonk', 'guides/moving-from-listmonk'],
  ['attachments', 'reference/sendEmail'],
] as const;

describe('the search of the docs', () => {
  it.each(QUERIES)('finds "%s" on %s', (query, page) => {
    const found = find(index, query)
      .slice(0, 8)
      .map(({ id }) => String(id).split('#')[0]);
    expect(found).toContain(`/docs/${page}`);
  });

  it('finds nothing for nothing', () => {
    for (const query of ['', ' ', '?', 'the of', 'qqqqzzzz']) expect(find(index, query)).toEqual([]);
  });
});
