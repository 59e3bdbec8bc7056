import { describe, expect, it } from '@jest/globals';
import { compileTemplate } from '../templates/template-language.ts';
import type { ToolName } from './tools.ts';
import { translateTemplate } from './translate.ts';

const CASES: [tool: ToolName, source: string, text: string][] = [
  ['plunk', '<p>{{ name ?? "you" }}</p>', '<p>{{ name ?? "you" }}</p>'],
  ['listmonk', 'Hi {{ .Subscriber.Name }} {{.Subscriber.Attribs.address.city}}', 'Hi {{name}} {{address.city}}'],
  ['listmonk', '{{- if .Subscriber.Attribs.vip -}}a{{ else }}b{{ end }}', '{{#if vip}}a{{else}}b{{/if}}'],
  ['listmonk', '{{ range .Tx.Data.tags }}{{ . }},{{ end }}', '{{#each tags}}{{this}},{{/each}}'],
  ['listmonk', '<a href="{{ UnsubscribeURL . }}">x</a>{{ TrackView . }}', '<a href="{{unsubscribeUrl}}">x</a>'],
  ['listmonk', '<a href="{{ TrackLink "https://x.test/?a=1" . }}">', '<a href="https://x.test/?a=1">'],
  [
    'mailchimp',
    '*|IF:FNAME|*Hi *|FNAME|**|ELSE:|*Hi*|END:IF|* *|UNSUB|*',
    '{{#if firstName}}Hi {{firstName}}{{else}}Hi{{/if}} {{unsubscribeUrl}}',
  ],
  ['mailchimp', 'a *| b |* 5 {{ name }}', 'a *| b |* 5 {{ name }}'],
  ['resend', '{{{FIRST_NAME|there}}} {{{contact.email}}} {{{PLAN}}}', '{{firstName ?? "there"}} {{email}} {{{PLAN}}}'],
  ['resend', '{{{constructor}}}', '{{{constructor}}}'],
  ['resend', '<a href="{{{RESEND_UNSUBSCRIBE_URL}}}">', '<a href="{{unsubscribeUrl}}">'],
  [
    'sendgrid',
    '{{#if a}}{{first_name}}{{else}}{{insert b "default=x"}}{{/if}}',
    '{{#if a}}{{firstName}}{{else}}{{b ?? "x"}}{{/if}}',
  ],
  [
    'sendgrid',
    '{{{unsubscribe}}} <%asm_group_unsubscribe_raw_url%> {{#each l}}{{this.n}}{{/each}}',
    '{{unsubscribeUrl}} {{unsubscribeUrl}} {{#each l}}{{this.n}}{{/each}}',
  ],
];

describe('a template of another tool', () => {
  it.each(CASES)('of %s is translated: %s', (tool, source, text) => {
    const isForeign = text.includes('*|');
    const translation = translateTemplate(tool, source);
    expect(translation.problems).toEqual(isForeign ? [{ line: 1, found: '*| b |*' }] : []);
    expect(translation.text).toBe(text);
    if (!isForeign) expect(() => compileTemplate(text, 'html')).not.toThrow();
  });

  it.each<[ToolName, string, number, string]>([
    ['listmonk', '<p>\n{{ template "content" . }}', 2, '{{ template "content" . }}'],
    ['listmonk', '{{ .Subscriber.FirstName }}', 1, '{{ .Subscriber.FirstName }}'],
    ['listmonk', '{{ end }}', 1, '{{ end }}'],
    ['listmonk', '{{ if eq .Subscriber.Name "x" }}a', 1, '{{ if eq .Subscriber.Name "x" }}'],
    ['listmonk', '{{ if .Tx.Data.a }}\n', 2, 'the block if has no end'],
    ['mailchimp', 'a\n\n*|MC:SUBJECT|*', 3, '*|MC:SUBJECT|*'],
    ['mailchimp', '*|constructor|*', 1, '*|constructor|*'],
    ['sendgrid', '<%body%>', 1, '<%body%>'],
  ])('of %s with %j is named, and stays as it is', (tool, source, line, found) => {
    const { text, problems } = translateTemplate(tool, source);
    expect(problems).toEqual([{ line, found }]);
    if (!found.includes('no end')) expect(text).toBe(source);
  });
});
