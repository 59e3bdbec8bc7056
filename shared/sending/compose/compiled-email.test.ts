import { describe, expect, it } from '@jest/globals';
import { cpuMsOf } from '../../../tests/support/cpu-time.ts';
import type { Brand } from '../../pure/brand.ts';
import { createLinkSigner } from './links.ts';
import { compileEmail, createEmailCompiler, type EmailSource } from './compiled-email.ts';

const CONTACT = { id: '0192a000-0000-7000-8000-000000000001', email: 'ada@mail.test', subscribed: true };
const EMAIL = '0192a000-0000-7000-8000-000000000002';
const signer = createLinkSigner({ appSecret: 'a secret of at least 32 characters', publicUrl: 'https://e.test' });
const urls = signer.recipientUrls({ contactId: CONTACT.id, emailId: EMAIL, projectId: EMAIL });

const TOPIC = { id: EMAIL, defaultSubscription: 'opt_in' as const, name: 'News', texts: {} };
const BRAND: Brand = {
  name: 'Tea & Co',
  displayName: null,
  postalAddress: null,
  logoUrl: null,
  brandColor: null,
  language: null,
};

async function render(html: string, data: Record<string, unknown> = {}, source: Partial<EmailSource> = {}) {
  const mail = await compileEmail({
    subject: 'S',
    html,
    type: 'HEADLESS',
    isTracked: true,
    brand: BRAND,
    topic: null,
    ...source,
  });
  return mail.render({ contact: { ...CONTACT, data }, urls });
}

/** The URLs of the links in HTML as a mail program reads them, without the hidden one; tracked ones are marked. */
function hrefsOf(html: string): string[] {
  const hrefs = [...html.matchAll(/href\s*=\s*"([^"]*)"/gi)].map((match) => (match[1] ?? '').replaceAll('&amp;', '&'));
  const seen = hrefs.filter((href) => href !== urls.hiddenUrl);
  return seen.map((href) => {
    const click = href.startsWith('https://e.test/t/c/') ? signer.readClickToken(href.slice(19)) : undefined;
    if (!click) return href;
    expect(click.emailId).toBe(EMAIL);
    return `counted ${click.url}`;
  });
}

describe('links of a tracked email', () => {
  it('record clicks and redirect to the original URL, query and fragment included', async () => {
    const { html } = await render(`
      <a href="https://a.test/?x=1&amp;y=2#z">1</a> <A class=b HREF='http://b.test/p'>2</A> <a href=https://c.test/q?r=s>3</a>
      <a title="a > b" href = "https://d.test">4</a> <area href="https://e.example/">
      <!--[if mso]><v:roundrect href="https://f.test/"></v:roundrect><![endif]-->`);
    expect(hrefsOf(html.replaceAll("'", '"'))).toEqual([
      'counted https://a.test/?x=1&y=2#z',
      'counted http://b.test/p',
      'counted https://c.test/q?r=s',
      'counted https://d.test/',
      'counted https://e.example/',
      'counted https://f.test/',
    ]);
  });

  it('stay unchanged when they are not web URLs, or are links of this installation', async () => {
    const source = `<a href="mailto:a@b.test?subject=x">m</a><a href="tel:+1">t</a><a href="#top">h</a><a href="cid:1">c</a>
      <a href="/path">r</a><a name="x">n</a><a href="https://">b</a><img src="https://pic.test/x.png"><link href="https://css.test/">`;
    const { html } = await render(
      `${source}<a href="{{unsubscribeUrl}}">u</a><a href="{{ manageUrl }}">m</a><a href="{{mine}}">x</a>`,
      {
        mine: urls.subscribeUrl,
      },
    );
    expect(html).toContain(source);
    expect(html).not.toContain('/t/c/');
    expect(html).toContain(`href="${urls.unsubscribeUrl}"`);
  });

  it('contain the values of placeholders, also in loops and blocks', async () => {
    const { html } = await render(
      `<a href="https://x.test/{{id}}?a={{b}}&amp;c=d">1</a>
       {{#each items}}<a href="{{this.url}}">{{@index}}</a>{{/each}}
       <a {{#if vip}}href="https://vip.test/"{{else}}href="https://all.test/"{{/if}}>3</a>
       <a href="{{#if vip}}https://v.test/?p={{{b}}}{{else}}https://w.test/{{/if}}">4</a>
       <a href="{{home ?? "https://home.test/"}}">5</a><a href={{plain}}>6</a><a href="{{mail}}">7</a>`,
      {
        b: 'q & "r"',
        items: [{ url: 'https://i.test/1?k=v&l=w' }, { url: 'https://i.test/2' }],
        vip: true,
        plain: 'https://plain.test/',
        mail: 'mailto:me@x.test',
      },
    );
    expect(hrefsOf(html)).toEqual([
      `counted https://x.test/${CONTACT.id}?a=q%20&%20%22r%22&c=d`,
      'counted https://i.test/1?k=v&l=w',
      'counted https://i.test/2',
      'counted https://vip.test/',
      'counted https://v.test/?p=q%20&%20%22r%22',
      'counted https://home.test/',
      'counted https://plain.test/',
      'mailto:me@x.test',
    ]);
  });

  it('cannot be forged by the data of a contact', async () => {
    const evil = '\uFDD3:https://evil.test/\uFDD4 {{@link-0}} <a href="https://evil.test/">x</a>';
    const { html, text } = await render('<p>{{name}}</p><a href="https://a.test/{{name}}">x</a>', { name: evil });
    expect(hrefsOf(html).filter((href) => href.startsWith('counted https://evil'))).toEqual([]);
    expect(text).not.toContain('/t/c/');
  });

  it('stay as written in the plain text, and everywhere when the email is not tracked', async () => {
    const html = '<p>Go <a href="https://a.test/?x=1&amp;y=2">there</a></p>';
    expect((await render(html)).text).toContain('https://a.test/?x=1&y=2');
    expect((await render(html, {}, { isTracked: false })).html).toBe(html);
  });

  it('take little CPU time in a template of any form', async () => {
    const parts = [
      '<a href="',
      "<a href='",
      '<a {{',
      '{{',
      '<a href={{x}',
      '<a '.repeat(3),
      '<a href="https://a.test/{{x}}">',
    ];
    const cpuMs = await cpuMsOf(async () => {
      for (const part of parts) await render(part.repeat(200_000 / part.length));
    });
    expect(cpuMs).toBeLessThan(5_000);
  });
});

describe('the image of a tracked email', () => {
  it('occurs once, at the end of the body', async () => {
    const { html } = await render('<html><body><p>Hi</p></body></html>');
    expect(html).toMatch(
      /<p>Hi<\/p><img src="https:\/\/e\.test\/t\/o\/[\w-]{40}\.gif" width="1" height="1" alt=""[^>]*><a [^>]*><\/a><\/body><\/html>$/,
    );
    expect((await render('<p>Hi</p>')).html.match(/\/t\/o\//g)).toHaveLength(1);
  });
});

describe('what is added to a body', () => {
  it('stays outside of tags after letters whose lower case is longer', async () => {
    const html = '<html><head><title>İİİİİİİİ</title></head><body><p>İİİİİİİİİİİİ</p></body></html>';
    const { html: sent } = await render(html, {}, { type: 'MARKETING', preheader: 'Hello' });
    expect(sent).toMatch(/<body><div style="display:none[^>]*>Hello/);
    expect(sent).toMatch(/<p>İ{12}<\/p>.*Unsubscribe<\/a>.*<\/a><\/body><\/html>$/s);
  });
});

describe('the hidden link of a tracked email', () => {
  const hidden = /<a href="([^"]*\/t\/h\/[^"]*)" aria-hidden="true" tabindex="-1" style="display:none"><\/a>/g;

  it('occurs once, where nobody sees, hears or reaches it, and is short', async () => {
    const { html, text } = await render('<p>Hi <a href="https://a.test/">there</a></p>');
    const [link, ...others] = [...html.matchAll(hidden)];
    expect([link?.[1], others]).toEqual([urls.hiddenUrl, []]);
    expect(link![0].length).toBeLessThan(160);
    expect(signer.readHiddenToken(urls.hiddenUrl.split('/').at(-1)!)).toBe(EMAIL);
    expect(text).not.toContain('/t/');
  });

  it('is in no email that is not tracked', async () => {
    expect((await render('<p>Hi</p>', {}, { isTracked: false })).html).not.toContain('/t/h/');
  });
});

describe('the tracked links', () => {
  it('are the first thousand of an email; the others stay unchanged', async () => {
    const link = (index: number) => `<a href="https://a.test/${index}">x</a>`;
    const { html } = await render(Array.from({ length: 1_002 }, (_, index) => link(index)).join(''));
    const hrefs = hrefsOf(html);
    expect(hrefs[999]).toBe('counted https://a.test/999');
    expect(hrefs.slice(1_000)).toEqual(['https://a.test/1000', 'https://a.test/1001']);
  });

  it('are limited in the same way when placeholders make them', async () => {
    const items = Array.from({ length: 1_500 }, (_, index) => `https://i.test/${index}`);
    const { html } = await render('{{#each items}}<a href="{{this}}">x</a>{{/each}}', { items });
    const hrefs = hrefsOf(html);
    expect(hrefs.filter((href) => href.startsWith('counted'))).toHaveLength(1_000);
    expect(hrefs[1_200]).toBe('https://i.test/1200');
  });
});

describe('a body with as many placeholders and names as it may have', () => {
  it('gets its links tracked, a footer and a preheader all the same', async () => {
    const html = `<a href="https://a.test/">x</a>${'{{a ?? b}}'.repeat(20_000)}`;
    const message = await render(html, { b: 'B' }, { type: 'MARKETING', preheader: 'Hello' });
    expect(hrefsOf(message.html)[0]).toBe('counted https://a.test/');
    expect(message.html).toContain('B'.repeat(20_000));
    expect(message.html).toMatch(/Hello.*Unsubscribe<\/a>/s);
  });
});

describe('a large body', () => {
  it('gets the same text part as a small one', async () => {
    const html = '<p>Hello {{name}}, see <a href="https://a.test">this</a></p>'.repeat(2_000);
    const { text } = await render(html, { name: 'Ann' }, { isTracked: false });
    expect(text.split('\n\n')).toEqual(Array(2_000).fill('Hello Ann, see this <https://a.test>'));
  });

  it('may come from a value, and is converted for the text part', async () => {
    const content = '<p>Some <b>words</b>.</p>'.repeat(20_000);
    const { html, text } = await render('<div>{{{content}}}</div>', { content }, { isTracked: false });
    expect(html).toContain(content);
    expect(text).toMatch(/^Some words\.\s+Some words\./);
    expect(text).not.toContain('<');
  });

  it('may be far longer than a template', async () => {
    const html = `<p>{{name}}</p>${'<p class="in-a-letter">Some words.</p>'.repeat(100_000)}`;
    const message = await render(html, { name: 'Ann' });
    expect(message.html).toBe(html.replace('{{name}}', 'Ann'));
    expect(message.text.startsWith('Ann\n\nSome words.')).toBe(true);
  });

  it('has no derived text part when it is too long', async () => {
    const html = `<p>{{name}}</p>${'<p>Some words.</p>'.repeat(300_000)}`;
    const message = await render(html, { name: 'Ann' });
    expect([message.html.length, message.text]).toEqual([html.length - 5, '']);
  });

  it('has its footer and preheader where a short one has them', async () => {
    const html = `<html><BODY>${'<p class="in-a-letter">Some words.</p>'.repeat(100_000)}</body></html>`;
    const message = await render(html, {}, { type: 'MARKETING', preheader: 'Hello' });
    expect(message.html).toMatch(/^<html><BODY><div style="display:none[^>]*>Hello/);
    expect(message.html).toMatch(/Unsubscribe<\/a>.*<\/body><\/html>$/s);
  });
});

describe('the compiler of a process', () => {
  it('keeps compiled emails, and compiles equal sources of concurrent calls once', async () => {
    const compile = createEmailCompiler();
    const source: EmailSource = {
      subject: 'S',
      html: '<p>{{a}}</p>',
      type: 'MARKETING',
      isTracked: true,
      brand: BRAND,
      topic: null,
    };
    const [first, second] = await Promise.all([compile(source), compile({ ...source })]);
    expect(second).toBe(first);
    expect(await compile({ ...source })).toBe(first);
    for (const change of [
      { subject: 'T' },
      { html: '<p>{{b}}</p>' },
      { type: 'HEADLESS' as const },
      { isTracked: false },
      { text: 'a' },
      { preheader: 'a' },
      { brand: { ...BRAND, postalAddress: 'London' } },
      { topic: TOPIC },
      { topic: { ...TOPIC, name: 'Other news' } },
    ]) {
      expect(await compile({ ...source, ...change })).not.toBe(first);
    }
  });

  it('drops the oldest when all would take too much memory', async () => {
    const compile = createEmailCompiler();
    const sourceOf = (subject: string): EmailSource => ({
      subject,
      html: '{{a}} '.repeat(10_000),
      type: 'TRANSACTIONAL',
      isTracked: false,
      brand: BRAND,
      topic: null,
    });
    const first = await compile(sourceOf('0'));
    expect(await compile(sourceOf('0'))).toBe(first);
    for (const subject of ['1', '2', '3']) await compile(sourceOf(subject));
    expect(await compile(sourceOf('0'))).not.toBe(first);
  });

  it('does not keep failures', async () => {
    const compile = createEmailCompiler();
    const source: EmailSource = {
      subject: 'S',
      html: '{{#if a}}',
      type: 'HEADLESS',
      isTracked: false,
      brand: BRAND,
      topic: null,
    };
    await expect(compile(source)).rejects.toMatchObject({ part: 'html' });
    await expect(compile(source)).rejects.toMatchObject({ part: 'html' });
  });
});
