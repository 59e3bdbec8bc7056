import { describe, expect, it } from '@jest/globals';
import { createTestSite, openApiNode } from '../../../tests/support/docs-site.ts';
import type { ApiExample } from '../../reference/examples.ts';
import { Schemas } from './fields.ts';
import { operationPage } from './operation-page.ts';
import { createFinder, readOperations, type Operation } from './operations.ts';

const document = openApiNode();
const schemas = new Schemas(document);
const operations = readOperations(document);
const operationOf = (id: string): Operation => operations.find((operation) => operation.id === id)!;

describe('the page of an endpoint', () => {
  it('has fields with their types, limits, values and defaults, those of objects below them', () => {
    const page = operationPage(operationOf('sendEmail'), schemas, [], []);
    for (const row of [
      '| `to` | string (email) or object, or a list of them | The recipient. 1 to 1,000 items. |',
      '| `to.email` | string (email), *required* |',
      '| `tags` | list of string | Words by which the email is found. At most 10 items. |',
      'One of `attachment`, `inline`; default `attachment`. |',
      '| `data.emails[].contact.id` | string (uuid), *required* |',
      '| 403 | [ROLE_REFUSED](../errors/ROLE_REFUSED.md) |',
      '[roles](../keys.md) `full`, `send`. In the [TypeScript client](../typescript.md): `everpost.send()`.',
    ]) {
      expect(page).toContain(row);
    }
    expect(page).not.toContain('`to[].email`');
  });

  it('has a table for each kind of step, and ends for schemas that hold themselves', () => {
    const steps = operationPage(operationOf('addWorkflowStep'), schemas, [], []);
    for (const type of ['SEND_EMAIL', 'DELAY', 'EXIT']) expect(steps).toContain(`### ${type}\n\n| field |`);
    const segment = operationPage(operationOf('createSegment'), schemas, [], []);
    expect(segment).toContain('| `condition.groups[].filters[].operator` |');
    expect(segment.length).toBeLessThan(60_000);
  });

  it('shows hostile texts of examples as texts', async () => {
    const hostile = '</code></pre><script>alert(1)</script>\n```\n# No heading\n| a | b |\n`x` "\'$(id)` {{a}} \u2028';
    const example: ApiExample = {
      name: hostile,
      params: { id: '../"><img src=x>' },
      query: { 'a"b': '<i>' },
      status: 200,
      request: { [hostile]: hostile },
      answer: { [hostile]: [hostile] },
    };
    const all = Object.fromEntries(operations.map(({ id }) => [id, [example]]));
    const site = await createTestSite(all);
    for (const { id } of operations) {
      const html = site.page(`/docs/reference/${id}`) ?? '';
      const scripts = html.match(/<script\b[^>]*>/g) ?? [];
      expect([id, scripts.every((tag) => /^<script (?:type="module" )?src="\/(?:look|docs)\//.test(tag))]).toEqual([
        id,
        true,
      ]);
      expect([id, /<(?:img|i)\b/.test(html), /<h\d[^>]*>No heading/.test(html)]).toEqual([id, false, false]);
    }
  });
});

describe('a call in a text', () => {
  const find = createFinder(operations.filter(({ isWebhook }) => !isWebhook));

  it.each([
    ['POST', '/v1/send', 'sendEmail'],
    ['GET', '/emails?tag=…', 'listEmails'],
    ['PATCH', '/emails/<id>', 'rescheduleEmail'],
    ['GET', '/contacts/:id', 'getContact'],
    ['GET', '/contacts/fields', 'listContactFields'],
    ['GET', '/contacts/$CONTACT/consents', 'listContactConsents'],
    ['GET', '/contacts/{id}', 'getContact'],
    ['DELETE', '/suppressions/gone%40example.com', 'removeSuppression'],
    ['GET', '/nothing', undefined],
    ['GET', '/contacts/a/b', undefined],
    ['GET', '/contacts/', undefined],
  ])('leads to its page: %s %s', (method, path, id) => {
    expect(find(method, path)?.operation.id).toBe(id);
  });
});
