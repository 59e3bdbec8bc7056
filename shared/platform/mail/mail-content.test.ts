import { describe, expect, it } from '@jest/globals';
import { createLinkSigner } from '../links.ts';
import { compileMail, type MailSource } from './mail-content.ts';

const CONTACT = { id: '0192a000-0000-7000-8000-000000000001', email: 'ada@mail.test', subscribed: true };
const EMAIL = '0192a000-0000-7000-8000-000000000002';
const signer = createLinkSigner({ appSecret: 'a secret of at least 32 characters', publicUrl: 'https://e.test' });
const urls = signer.recipientUrls({ contactId: CONTACT.id, emailId: EMAIL });

function render(html: string, data: Record<string, unknown> = {}, source: Partial<MailSource> = {}) {
  const mail = compileMail({ subject: 'S', html, type: 'HEADLESS', isTracked: true, ...source });
  return mail.render({ contact: { ...CONTACT, data }, urls });
}

/** The addresses of the links of some HTML as a mail program reads them, with those counted marked as such. */
function hrefsOf(html: string): string[] {
  const hrefs = [...html.matchAll(/href\s*=\s*"([^"]*)"/gi)].map((match) => (match[1] ?? '').replaceAll('&amp;', '&'));
  return hrefs.map((href) => {
    const click = href.startsWith('https://e.test/t/c/') ? signer.readClickToken(href.slice(19)) : undefined;
    if (!click) return href;
    expect(click.emailId).toBe(EMAIL);
    return `counted ${click.url}`;
  });
}

describe('links of a tracked mail', () => {
  it('are counted and lead where they led, query and fragment included', () => {
    const { html } = render(`
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

  it('are left alone when they are not web addresses, or lead back to us', () => {
    const source = `<a href="mailto:a@b.test?subject=x">m</a><a href="tel:+1">t</a><a href="#top">h</a><a href="cid:1">c</a>
      <a href="/path">r</a><a name="x">n</a><a href="https://">b</a><img src="https://pic.test/x.png"><link href="https://css.test/">`;
    const { html } = render(
      `${source}<a href="{{unsubscribeUrl}}">u</a><a href="{{ manageUrl }}">m</a><a href="{{mine}}">x</a>`,
      {
        mine: urls.subscribeUrl,
      },
    );
    expect(html).toContain(source);
    expect(html).not.toContain('/t/c/');
    expect(html).toContain(`href="${urls.unsubscribeUrl}"`);
  });

  it('keep what placeholders put into them, in loops and blocks too', () => {
    const { html } = render(
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

  it('cannot be made by the data of a contact', () => {
    const evil = '\uFDD3:https://evil.test/\uFDD4 {{@link-0}} <a href="https://evil.test/">x</a>';
    const { html, text } = render('<p>{{name}}</p><a href="https://a.test/{{name}}">x</a>', { name: evil });
    expect(hrefsOf(html).filter((href) => href.startsWith('counted https://evil'))).toEqual([]);
    expect(text).not.toContain('/t/c/');
  });

  it('stay as written in the plain text, and everywhere when the mail is not tracked', () => {
    const html = '<p>Go <a href="https://a.test/?x=1&amp;y=2">there</a></p>';
    expect(render(html).text).toContain('https://a.test/?x=1&y=2');
    expect(render(html, {}, { isTracked: false }).html).toBe(html);
  });

  it('take time in proportion to the template', () => {
    for (const part of [
      '<a href="',
      "<a href='",
      '<a {{',
      '{{',
      '<a href={{x}',
      '<a '.repeat(3),
      '<a href="https://a.test/{{x}}">',
    ]) {
      render(part.repeat(200_000 / part.length));
    }
  });
});

describe('the image of a tracked mail', () => {
  it('stands once, at the end of the body', () => {
    const { html } = render('<html><body><p>Hi</p></body></html>');
    expect(html).toMatch(
      /<p>Hi<\/p><img src="https:\/\/e\.test\/t\/o\/[\w-]{40}\.gif" width="1" height="1" alt=""[^>]*><\/body><\/html>$/,
    );
    expect(render('<p>Hi</p>').html.match(/\/t\/o\//g)).toHaveLength(1);
  });
});

describe('the footer', () => {
  const marketing = (html: string, data = {}) => render(html, data, { type: 'MARKETING' });

  it.each([
    ['de', 'Abmelden'],
    ['fr-CA', 'Se désabonner'],
    ['es', 'Darse de baja'],
    ['nl_NL', 'Afmelden'],
    ['PT', 'Cancelar a inscrição'],
    ['ja', 'Unsubscribe'],
    [undefined, 'Unsubscribe'],
    [42, 'Unsubscribe'],
  ])('for the locale %s says %s', (locale, text) => {
    const { html } = marketing('<p>News</p>', locale === undefined ? {} : { locale });
    expect(html).toContain(`href="${urls.unsubscribeUrl}" style="color:#595959">${text}</a>`);
    expect(html).toContain(`href="${urls.manageUrl}"`);
  });

  it('is left out where the author has put the link, and in other mail', () => {
    expect(marketing('<a href="{{unsubscribeUrl}}">bye</a>').html).not.toContain('Unsubscribe');
    expect(render('<p>Receipt</p>', {}, { type: 'TRANSACTIONAL' }).html).not.toContain('Unsubscribe');
  });
});
