import { describe, expect, it } from '@jest/globals';
import { findUrlFault, splitWebhookUrl } from './webhook-url.ts';

describe('the URL of a webhook step', () => {
  it.each([
    ['https://api.example.com', 'https://api.example.com', ''],
    ['https://api.example.com/{{id}}?to={{email}}', 'https://api.example.com', '/{{id}}?to={{email}}'],
    ['HTTP://api.example.com:8080?x={{y}}', 'HTTP://api.example.com:8080', '?x={{y}}'],
    ['https://api.example.com#{{y}}', 'https://api.example.com', '#{{y}}'],
    ['https://api.example.com\\{{y}}', 'https://api.example.com', '\\{{y}}'],
    ['{{event.url}}', '{{event.url}}', ''],
    ['{{ event.url ?? "https://a.test" }}?to={{email}}', '{{ event.url ?? "https://a.test" }}', '?to={{email}}'],
    ['{{{event.url}}}/x', '{{{event.url}}}', '/x'],
  ])('%s is split into the part with the host and the rest', (source, head, tail) => {
    expect(splitWebhookUrl(source)).toEqual({ head, tail });
  });

  it.each([
    'https://{{host}}/',
    'https://api.example.com{{path}}',
    'https://api.{{name}}.com/',
    'https://{{user}}@api.example.com/',
    'https://api.example.com:{{port}}/',
    'https:///{{host}}/',
    'https://\\{{host}}/',
    'https://user:password@api.example.com/',
    '{{#if event.url}}https://a.test{{/if}}',
    '{{}}/x',
    'ftp://example.com/',
    'example.com/{{id}}',
    'https:{{rest}}',
    'javascript:{{code}}',
    'https://api.exam\tple.com{{x}}',
  ])('%s is refused, because its host is not fixed or not allowed', (source) => {
    expect(splitWebhookUrl(source)).toBeUndefined();
  });
});

describe('a rendered URL', () => {
  const faultOf = (source: string, head: string, tail: string) =>
    findUrlFault(splitWebhookUrl(source)!, { head, tail });

  it('may be called when its placeholders print a path and a query', () => {
    expect(faultOf('https://a.test/{{x}}?y={{y}}', 'https://a.test', '/one?y=two')).toBeUndefined();
    expect(faultOf('{{u}}', 'https://a.test/x?y=1', '')).toBeUndefined();
    expect(faultOf('https://a.test/../{{x}}', 'https://a.test', '/../one')).toBeUndefined();
  });

  it.each([
    ['{{u}}{{x}}', 'https://a.test', '.evil.test', /host/],
    ['{{u}}{{x}}', 'https://a.test', ':8443', /host/],
    ['{{u}}{{x}}', 'nothing', '/x', /does not print a URL/],
    ['{{u}}', '', '', /does not print a URL/],
    ['https://a.test/{{x}}/b', 'https://a.test', '/../b', /path/],
    ['https://a.test/{{x}}/b', 'https://a.test', '/%2E./b', /path/],
    ['https://a.test/{{x}}', 'https://a.test', '\\..', /path/],
  ])('of %s is refused when it reads %s%s', (source, head, tail, fault) => {
    expect(faultOf(source, head, tail)).toMatch(fault);
  });
});
