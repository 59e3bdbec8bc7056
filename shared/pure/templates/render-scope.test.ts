import { describe, expect, it } from '@jest/globals';
import { createRenderScope, type RenderScopeInput } from './render-scope.ts';
import { compileTemplate } from './template-language.ts';

const urls = {
  unsubscribeUrl: 'https://mail.test/unsubscribe/1',
  subscribeUrl: 'https://mail.test/subscribe/1',
  manageUrl: 'https://mail.test/manage/1',
  viewUrl: 'https://mail.test/view/1',
};

function render(
  source: string,
  overrides: Partial<RenderScopeInput> & { data?: Record<string, unknown> } = {},
): string {
  const { data = {}, ...rest } = overrides;
  const contact = { id: 'c-1', email: 'ann@example.com', subscribed: true, data };
  return compileTemplate(source, 'text').render(createRenderScope({ contact, urls, ...rest }));
}

describe('createRenderScope', () => {
  it('has the contact, the links and every key of data, at top level and under data', () => {
    expect(render('{{id}} {{svc_id}} {{email}} {{svc_email}} {{subscribed}}')).toBe(
      'c-1 c-1 ann@example.com ann@example.com true',
    );
    expect(render('{{unsubscribeUrl}} {{subscribeUrl}} {{manageUrl}} {{viewUrl}}')).toBe(Object.values(urls).join(' '));
    expect(render('{{plan}} {{data.plan}} {{data.a.b}}', { data: { plan: 'pro', a: { b: 1 } } })).toBe('pro pro 1');
    expect(render('{{utm.source}} {{data.utm.source}}', { data: { 'utm.source': 'x' } })).toBe('x x');
  });

  it('prefers the values of the request to stored ones, at top level and under data', () => {
    const overrides = { data: { plan: 'free', city: 'Ulm' }, requestData: { plan: 'pro', code: 7 } };
    expect(render('{{plan}} {{data.plan}} {{city}} {{data.city}} {{code}} {{data.code}}', overrides)).toBe(
      'pro pro Ulm Ulm 7 7',
    );
    expect(render('[{{plan ?? "none"}}]', { data: { plan: 'free' }, requestData: { plan: null } })).toBe('[none]');
  });

  it('prefers reserved names to keys of data with the same name, which stay reachable under data', () => {
    const data = { email: 'x', id: 'x', subscribed: 'x', svc_id: 'x', svc_email: 'x', manageUrl: 'x', data: 'x' };
    const source = '{{id}} {{email}} {{subscribed}} {{svc_id}} {{svc_email}} {{manageUrl}}[{{data}}]{{data.email}}';
    const expected = `c-1 ann@example.com true c-1 ann@example.com ${urls.manageUrl}[]x`;
    expect(render(source, { data })).toBe(expected);
    expect(render(source, { data: { email: 'x' }, requestData: data })).toBe(expected);
  });

  it('has the context of an execution as event, and a key of data of that name elsewhere', () => {
    const data = { event: 'stored' };
    expect(render('{{event.order.total}}{{event}}', { data, event: { order: { total: 12 } } })).toBe('12');
    expect(render('{{event}}', { data })).toBe('stored');
  });

  it('reads own keys only, and reads nothing through a __proto__ key from JSON', () => {
    const data = JSON.parse('{"__proto__":{"admin":"yes"},"a":1}') as Record<string, unknown>;
    const source =
      '[{{admin}}{{data.admin}}{{__proto__.admin}}{{data.__proto__.admin}}{{toString}}{{data.valueOf}}]{{a}}';
    expect(render(source, { data })).toBe('[]1');
    expect(render(source, { data: { a: 0 }, requestData: data })).toBe('[]1');
    expect(({} as Record<string, unknown>).admin).toBeUndefined();
  });

  it('keeps data named viewUrl, which is older than the link of that name', () => {
    expect(render('{{viewUrl}}', { data: { viewUrl: 'mine' } })).toBe('mine');
    expect(render('{{viewUrl}}', { requestData: { viewUrl: 'now' } })).toBe('now');
  });

  it('computes a link only when the template has it', () => {
    const asked: string[] = [];
    const lazyUrls = {
      get unsubscribeUrl() {
        asked.push('unsubscribe');
        return 'u';
      },
      get subscribeUrl() {
        asked.push('subscribe');
        return 's';
      },
      get manageUrl() {
        asked.push('manage');
        return 'm';
      },
      get viewUrl() {
        asked.push('view');
        return 'v';
      },
    };
    expect(render('{{email}} {{manageUrl}}', { urls: lazyUrls })).toBe('ann@example.com m');
    expect(asked).toEqual(['manage']);
  });

  it('leaves its input as it was', () => {
    const data = Object.freeze({ a: 1 });
    const requestData = Object.freeze({ b: 2 });
    expect(render('{{#each data}}{{@key}}{{this}}{{/each}}', { data, requestData })).toBe('a1b2');
    expect(data).toEqual({ a: 1 });
  });
});
