import { describe, expect, it } from '@jest/globals';
import { cpuMsOf } from '../../../tests/support/cpu-time.ts';
import type { Brand } from '../../pure/brand.ts';
import type { EmailTopic } from '../../pure/emails/email-topic.ts';
import { LANGUAGES, textsOf } from '../../pure/languages/languages.ts';
import { createLinkSigner } from './links.ts';
import { compileEmail, type EmailSource } from './compiled-email.ts';

const CONTACT = { id: '0192a000-0000-7000-8000-000000000001', email: 'ada@mail.test', subscribed: true };
const EMAIL = '0192a000-0000-7000-8000-000000000002';
const urls = createLinkSigner({
  appSecret: 'a secret of at least 32 characters',
  publicUrl: 'https://e.test',
}).recipientUrls({ contactId: CONTACT.id, emailId: EMAIL, projectId: EMAIL });
const BRAND: Brand = {
  name: 'Tea & <Co>',
  displayName: null,
  postalAddress: null,
  logoUrl: null,
  brandColor: null,
  language: null,
};

async function render(source: Partial<EmailSource>, data: Record<string, unknown> = {}) {
  const mail = await compileEmail({
    subject: 'S',
    html: '<p>News</p>',
    type: 'MARKETING',
    isTracked: false,
    brand: BRAND,
    topic: null,
    ...source,
  });
  return mail.render({ contact: { ...CONTACT, data }, urls });
}

describe('the footer', () => {
  it.each([
    ['de', 'de', 'ltr', 'Abmelden'],
    ['fr-CA', 'fr', 'ltr', 'Se désabonner'],
    ['nl_NL', 'nl', 'ltr', 'Afmelden'],
    ['PT', 'pt', 'ltr', 'Cancelar a inscrição'],
    ['ja', 'ja', 'ltr', '配信を停止する'],
    ['ar-EG', 'ar', 'rtl', 'إلغاء الاشتراك'],
    ['he', 'he', 'rtl', 'ביטול הרישום'],
    ['iw', 'he', 'rtl', 'ביטול הרישום'],
    ['tlh', 'en', 'ltr', 'Unsubscribe'],
    [undefined, 'en', 'ltr', 'Unsubscribe'],
    [42, 'en', 'ltr', 'Unsubscribe'],
  ])('for the locale %s is in %s, written %s', async (locale, language, direction, unsubscribe) => {
    const { html, text } = await render({}, locale === undefined ? {} : { locale });
    expect(html).toContain(`<div lang="${language}" dir="${direction}"`);
    expect(html).toContain(`href="${urls.unsubscribeUrl}" style="color:#595959">${unsubscribe}</a>`);
    expect(html).toContain(`href="${urls.manageUrl}"`);
    expect(text).toContain(`\n${unsubscribe}: ${urls.unsubscribeUrl}\n`);
  });

  it.each(LANGUAGES)(
    'for a topic names it in %s, and its links leave the topic or lead to a choice',
    async (locale) => {
      const name = 'Weekly <{name}>';
      const texts = locale === 'en' ? {} : { [locale]: { name: `${name} ${locale}` } };
      const topic: EmailTopic = { id: EMAIL, defaultSubscription: 'opt_in', name, texts };
      const { html, text } = await render({ topic }, { locale });
      const shown = locale === 'en' ? name : `${name} ${locale}`;
      const words = textsOf(locale).footer.topic;
      expect(text).toContain(words.reason.replaceAll(/\{\w+\}/g, (key) => (key === '{topic}' ? shown : BRAND.name)));
      expect(html).toContain('Weekly &lt;{name}&gt;');
      expect(text).toContain(`\n${words.unsubscribe}: ${urls.unsubscribeUrl}\n${words.manage}: ${urls.manageUrl}`);
      expect(html).toContain(`href="${urls.unsubscribeUrl}" style="color:#595959">${words.unsubscribe}</a>`);
    },
  );

  it('is in the language of the project when that of the contact is not supported', async () => {
    const brand: Brand = { ...BRAND, language: 'he' };
    expect((await render({ brand }, { locale: 'tlh' })).html).toContain('lang="he" dir="rtl"');
    expect((await render({ brand }, { locale: 'es' })).html).toContain('lang="es"');
  });

  it('has the language and the links of each recipient of one email', async () => {
    const source: EmailSource = {
      subject: 'S',
      html: '<p>News</p>',
      type: 'MARKETING',
      isTracked: false,
      brand: BRAND,
      topic: null,
    };
    const mail = await compileEmail(source);
    for (const [locale, unsubscribe] of [
      ['de', 'Abmelden'],
      ['en', 'Unsubscribe'],
      ['de', 'Abmelden'],
    ] as const) {
      const own = {
        ...urls,
        unsubscribeUrl: `https://e.test/leave-${locale}`,
        manageUrl: `https://e.test/manage-${locale}`,
      };
      const { html, text } = mail.render({ contact: { ...CONTACT, data: { locale } }, urls: own });
      expect(html).toContain(`href="https://e.test/leave-${locale}" style="color:#595959">${unsubscribe}</a>`);
      expect(html).toContain(`href="https://e.test/manage-${locale}"`);
      expect(text).toContain(`\n${unsubscribe}: https://e.test/leave-${locale}\n`);
    }
  });

  it('contains the sender, the reason and the postal address', async () => {
    const brand: Brand = {
      ...BRAND,
      postalAddress: '1 High Street\n<London>',
      logoUrl: 'https://a.test/l.png?a=1&b=2',
    };
    const { html, text } = await render({ brand });
    expect(html).toContain('subscribed to newsletters from Tea &amp; &lt;Co&gt;.');
    expect(html).toContain('1 High Street<br>&lt;London&gt;');
    expect(html).toContain('<img src="https://a.test/l.png?a=1&amp;b=2" alt=""');
    expect(text).toBe(
      [
        'News\n',
        '-- ',
        'You receive this email because you are subscribed to newsletters from Tea & <Co>.',
        '1 High Street',
        '<London>\n',
        `Unsubscribe: ${urls.unsubscribeUrl}`,
        `Manage subscription: ${urls.manageUrl}`,
      ].join('\n'),
    );
    expect((await render({})).html).not.toContain('<img');
  });

  it('prints a brand literally, whatever characters it has', async () => {
    const brand: Brand = { ...BRAND, name: '{{email}} $& {name}', postalAddress: '{{#if a}}' };
    const { html, text } = await render({ brand });
    for (const part of [html, text]) expect(part).toContain('{{#if a}}');
    expect(text).toContain('from {{email}} $& {name}.');
  });

  it('is at the end of the body, and is the whole text part of an email without text', async () => {
    const { html } = await render({ html: '<html><body><p>News</p></body></html>' });
    expect(html.indexOf('Unsubscribe')).toBeLessThan(html.indexOf('</body>'));
    expect((await render({ html: '{{nothing}}' })).text).toMatch(/^-- \nYou receive/);
  });

  it('is left out when the author has placed a link, and in TRANSACTIONAL email', async () => {
    expect((await render({ html: '<a href="{{unsubscribeUrl}}">bye</a>' })).html).not.toContain('Unsubscribe');
    expect((await render({ type: 'TRANSACTIONAL' })).html).not.toContain('Unsubscribe');
    expect((await render({ type: 'HEADLESS' })).text).toBe('News');
  });

  it('is added to a text part without a link, even if the HTML has one', async () => {
    const html = '<a href="{{unsubscribeUrl}}">bye</a>';
    expect((await render({ html, text: 'Hello {{email}} & co' })).text).toMatch(
      /^Hello ada@mail\.test & co\n\n-- \n.*\n\nUnsubscribe: https:/,
    );
    expect((await render({ text: 'Leave: {{unsubscribeUrl}}' })).text).toBe(`Leave: ${urls.unsubscribeUrl}`);
  });

  it('names the sender and has no placeholder left in every language', async () => {
    for (const locale of LANGUAGES) {
      const { html, text } = await render({}, { locale });
      expect(html).toContain('Tea &amp; &lt;Co&gt;');
      expect(text).not.toMatch(/[{}]/);
    }
  });
});

describe('the preheader', () => {
  const preheader = 'For {{name}}, <b>today</b>\u0007 only';

  it('is hidden before all visible content, escaped, and in no text part', async () => {
    const { html, text } = await render(
      { preheader, html: '<html><body class="x"><p>News</p></body></html>' },
      { name: '<i>Ann' },
    );
    expect(html).toMatch(
      /<body class="x"><div style="display:none;[^"]*mso-hide:all">For &lt;i&gt;Ann, &lt;b&gt;today&lt;\/b&gt; only&#847;/,
    );
    expect(text).toMatch(/^News\n/);
  });

  it.each([
    ['<!doctype html><html><head><title>x</title></head>', '<p>a</p>'],
    ['<!DOCTYPE html>', '{{name}}'],
    ['', '{{{name}}}'],
  ])('follows %j', async (start, rest) => {
    const { html } = await render({ preheader: 'Look', html: start + rest }, { name: 'Ann' });
    expect(html.startsWith(`${start}<div style="display:none`)).toBe(true);
    expect(html).toContain('</div>' + rest.replace(/\{+name\}+/, 'Ann'));
  });

  it('is padded so that a preview shows nothing of the body', async () => {
    const { html } = await render({ preheader: 'x'.repeat(100) });
    expect(html.match(/&#847;&zwnj;&nbsp;/g)).toHaveLength(50);
    expect((await render({ preheader: 'x'.repeat(400) })).html).not.toContain('&#847;');
  });

  it('is left out when it is blank, and cut when it is too long', async () => {
    expect((await render({ preheader: '{{missing}} ' })).html).not.toContain('display:none');
    const { html } = await render({ preheader: '{{long}}' }, { long: 'y'.repeat(10_000) });
    expect(html).toContain(`>${'y'.repeat(500)}</div>`);
  });

  it('counts towards the cost of rendering, and faults name it, as they name the text part', async () => {
    await expect(render({ preheader: '{{#if a}}' })).rejects.toMatchObject({ part: 'preheader' });
    await expect(render({ text: '{{/if}}' })).rejects.toMatchObject({ part: 'text' });
    const list = Array(10_001).fill(1);
    await expect(render({ preheader: '{{#each list}}x{{/each}}' }, { list })).rejects.toMatchObject({
      part: 'preheader',
    });
    await expect(render({ text: '{{#each list}}x{{/each}}' }, { list })).rejects.toMatchObject({ part: 'text' });
  });

  it('takes little CPU time in a template of any form', async () => {
    const html = '<body'.repeat(100_000);
    expect(await cpuMsOf(() => render({ preheader: 'x', html, type: 'HEADLESS' }))).toBeLessThan(5_000);
  });
});
