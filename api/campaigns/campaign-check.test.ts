import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freezeNextRecipients } from '../../shared/domain/campaigns/freeze-audience.ts';
import { query, sql } from '../../shared/database/sql.ts';
import { updateProject } from '../../shared/domain/lifecycle/update-project.ts';
import type { CampaignStatus } from '../../shared/pure/campaigns/campaign-status.ts';
import { meetSources } from '../../shared/domain/emails/sources.ts';
import { startTestApi } from '../../tests/support/api.ts';
import { createDnsServer } from '../../tests/support/dns-server.ts';
import {
  campaignContent,
  proPlan,
  startCampaignApi,
  UNKNOWN_ID,
  type CampaignApi,
} from '../../tests/support/campaigns.ts';

let app: CampaignApi;
beforeAll(async () => {
  app = await startCampaignApi();
  const people: [string, Record<string, unknown>][] = [
    ['ann', { data: { firstName: 'Ann', plan: 'pro', address: { city: 'Bern' } } }],
    ['bob', { data: { plan: 'pro', address: { city: '' } } }],
    ['cat', { data: { plan: 'pro', vip: true } }],
    ['dan', { data: { firstName: 'Dan', plan: 'pro' }, subscribed: false }],
    ['eve', { data: { firstName: 'Eve', plan: 'pro', nick: 'E' } }],
    ['gus', { data: { firstName: 'Gus', plan: 'free' } }],
  ];
  for (const [name, body] of people)
    await app.api('POST', '/contacts', { body: { email: `${name}@check.test`, ...body } });
  // An empty text counts as none.
  await query(app.em(), sql`update contact set data = data || '{"firstName": ""}' where email = 'cat@check.test'`);
  await app.api('POST', '/suppressions', { body: { emails: ['eve@check.test', 'dan@check.test'] } });
});
afterAll(() => app.stop());

const audience = { audienceType: 'FILTERED', audienceCondition: proPlan };

async function check(change: Record<string, unknown> = {}): Promise<any> {
  const { id } = await app.createCampaign({ ...audience, ...change });
  const reply = await app.call('POST', id, '/check');
  expect(reply.status).toBe(200);
  return { id, ...reply.body };
}

const codesOf = (checked: { problems: { code: string }[] }) => checked.problems.map(({ code }) => code);
const emptyOf = async (body: string, subject = 'News') => (await check({ body, subject })).placeholders.empty;

const NOBODY = { pending: 0, paused: 0, topic: 0 };

describe('the recipients that a check counts', () => {
  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    [
      'a filter',
      {},
      { matching: 6, queued: 5, receiving: 4, notReceiving: { ...NOBODY, unsubscribed: 1, suppressed: 1 } },
    ],
    [
      'a filter of TRANSACTIONAL mail',
      { type: 'TRANSACTIONAL' },
      { matching: 6, queued: 6, receiving: 4, notReceiving: { ...NOBODY, unsubscribed: 0, suppressed: 2 } },
    ],
    [
      'everybody',
      { audienceType: 'ALL', audienceCondition: null },
      { matching: 7, queued: 6, receiving: 5, notReceiving: { ...NOBODY, unsubscribed: 1, suppressed: 1 } },
    ],
  ])('of %s are those whom a send stores', async (_name, change, expected) => {
    const { id, recipients } = await check(change);
    expect(recipients).toEqual(expected);
    await app.sendCampaign(id);
    expect(await freezeNextRecipients(app.em(), id, 1_000)).toEqual({
      isComplete: true,
      totalRecipients: recipients.queued,
    });
  });

  it('are none when nobody fits the audience, which a send would refuse', async () => {
    const nobody = { logic: 'AND', groups: [{ filters: [{ field: 'email', operator: 'equals', value: 'x@y.test' }] }] };
    const checked = await check({ audienceCondition: nobody });
    expect([checked.canBeSent, checked.problems[0]]).toMatchObject([false, { code: 'NO_RECIPIENTS', level: 'error' }]);
    expect(checked.recipients).toMatchObject({ matching: 0, queued: 0 });
  });
});

describe('the placeholders of another language that a check finds', () => {
  const foundIn = async (change: Record<string, unknown>): Promise<string | undefined> => {
    const { problems } = await check(change);
    return problems.find(({ code }: { code: string }) => code === 'FOREIGN_PLACEHOLDERS')?.message;
  };

  it.each<[string, Record<string, unknown>]>([
    ['the subject', { subject: 'Hi ${name}' }],
    ['the body', { body: '<style>.a{color}</style><p>Hi ${name}</p>' }],
    ['a link', { body: '<a href="https://example.com/?u=${name}">x</a>' }],
    ['the preheader', { preheader: 'Hi ${name}' }],
    ['the text', { body: '<p>Hi</p>', text: 'Hi ${name}' }],
    ['a body that has a text beside it', { body: '<p>Hi ${name}</p>', text: 'Hi' }],
  ])('in %s are a warning', async (_part, change) => {
    expect(await foundIn(change)).toBe('${name}: placeholders of another language go out as they are; write {{name}}.');
  });

  it('are none in styles, scripts and comments', async () => {
    const body = '<style>.a{color}@media{b}</style><script>f(`${a}`)</script><!-- %%x%% --><p>{{nick}} 20 %</p>';
    expect(await foundIn({ body })).toBeUndefined();
  });
});

describe('the placeholders that a check finds empty', () => {
  it.each<[string, [string, number][]]>([
    ['<p>{{firstName}}</p>', [['firstName', 3]]],
    ['<p>{{data.firstName}}</p>', [['data.firstName', 3]]],
    ['<p>{{firstName ?? "you"}}</p>', [['firstName ?? "you"', 1]]],
    ['<p>{{nick ?? firstName}}</p>', [['nick ?? firstName', 3]]],
    ['<p>{{nick ?? email}} {{email}} {{unsubscribeUrl}}</p>', []],
    ['<p>{{address.city}}</p>', [['address.city', 4]]],
    ['<p>{{address}}</p>', [['address', 5]]],
    ['<p>{{#if firstName}}Dear {{firstName}}{{else}}Hello{{/if}}</p>', []],
    ['<p>{{#if vip}}{{nick}}{{/if}}</p>', [['nick', 1]]],
    ['<p>{{#unless vip}}{{nick}}{{/unless}}</p>', [['nick', 3]]],
    ['<p>{{#each items}}{{this.name}}{{/each}}</p>', []],
    ['<p>{{nobody has this}}</p>', [['nobody has this', 5]]],
  ])('in %s are %j', async (body, expected) => {
    expect(await emptyOf(body)).toEqual(expected.map(([placeholder, recipients]) => ({ placeholder, recipients })));
  });

  it('include those of the subject, each once', async () => {
    expect(await emptyOf('<p>{{nick}} and {{nick}}</p>', '{{nick}}')).toEqual([{ placeholder: 'nick', recipients: 4 }]);
  });
});

describe('the email that a check renders', () => {
  it('has its links checked', async () => {
    const hrefs = ['', '#', 'www.example.com', '/prices', 'javascript:alert(1)', 'http://', 'https://local host/'];
    const fine = ['https://example.com/?a=1&amp;b=2', 'mailto:a@example.com', 'tel:+41', '#top', '{{unsubscribeUrl}}'];
    const body = [...hrefs, ...fine].map((href) => `<a href="${href}">x</a>`).join('');
    const checked = await check({ body });
    expect(checked.badLinks.map((link: { href: string }) => link.href)).toEqual(hrefs);
    expect(codesOf(checked)).toContain('BAD_LINKS');
    expect(codesOf(await check({ body: '<a href="https://example.com">x</a>' }))).not.toContain('BAD_LINKS');
  });

  it('is measured, and checked for a text part', async () => {
    const small = await check();
    expect(small.size).toMatchObject({ clippedByGmail: false, htmlBytes: expect.any(Number) });
    expect(small.plainText).toBe(true);
    const large = await check({ body: `<p>${'word '.repeat(21_000)}</p>` });
    expect(large.size.htmlBytes).toBeGreaterThan(102_000);
    expect(codesOf(large)).toContain('CLIPPED_BY_GMAIL');
    const image = await check({ body: '<img src="https://example.com/a.png">' });
    expect([image.plainText, codesOf(image)]).toEqual([false, expect.arrayContaining(['NO_PLAIN_TEXT'])]);
  });

  it('is missing when the template has an error, which is reported', async () => {
    const { id } = await app.createCampaign(audience);
    await query(app.em(), sql`update campaign set body = '{{#if a}}' where id = ${id}`);
    const { body } = await app.call('POST', id, '/check');
    expect(body).toMatchObject({ canBeSent: false, templateError: '{{#if}} is never closed' });
    expect(codesOf(body)).toContain('TEMPLATE_ERROR');
  });
});

describe('the sender and the speed that a check reports', () => {
  it('are those of the domain and the project', async () => {
    const checked = await check();
    expect(checked.sender).toMatchObject({
      domain: 'example.com',
      registered: true,
      verified: true,
      dkimAligned: false,
    });
    expect(codesOf(checked)).toEqual(expect.arrayContaining(['DKIM_NOT_ALIGNED', 'SPF_NOT_ALIGNED', 'DMARC_MISSING']));
    expect([checked.oneClickUnsubscribe, checked.canBeSent]).toEqual([{ required: true, https: true }, true]);
    expect(checked.duration).toBeNull();

    await query(
      app.em(),
      sql`
        update sender_domain set dns_verified = true, dkim_selector = 's', dkim_public_key = 'p', dkim_private_key = 'k', records_found = '{DKIM,RETURN_PATH,SPF,DMARC}'
        where project_id = ${app.project.id}`,
    );
    await updateProject(app.em(), app.project.id, { emailsPerSecond: 2 });
    const better = await check({ type: 'TRANSACTIONAL' });
    expect(better.sender).toMatchObject({ dkimAligned: true, spfAligned: true, dmarc: true });
    expect(better.duration).toEqual({ seconds: 2, emailsPerSecond: 2, basis: 'limit' });
    expect(better.oneClickUnsubscribe.required).toBe(false);
    expect(codesOf(better)).toEqual(['EMPTY_PLACEHOLDERS']);
  });

  it('include an error when the domain is not registered any more', async () => {
    const { id } = await app.createCampaign(audience);
    await query(app.em(), sql`update campaign set from_address = 'a@gone.test' where id = ${id}`);
    const { body } = await app.call('POST', id, '/check');
    expect([body.canBeSent, codesOf(body)]).toEqual([false, expect.arrayContaining(['DOMAIN_NOT_REGISTERED'])]);
  });

  it('include the speed of the last day when the project has no limit', async () => {
    const other = await app.createProject();
    await query(
      app.em(),
      sql`
        insert into event (id, project_id, name, created_at)
        select everpost_uuid_v7(), ${other.project.id}, 'email.sent', date_trunc('hour', now()) - interval '1 hour' + n * interval '5 milliseconds'
        from generate_series(1, 1999) n`,
    );
    await other.api('POST', '/contacts', { body: { email: 'one@check.test' } });
    const { id } = await app.createCampaign({}, other);
    const { body } = await other.api('POST', `/campaigns/${id}/check`);
    expect(body.duration).toEqual({ seconds: 1, emailsPerSecond: 199.9, basis: 'measured' });
  });
});

it('one-click unsubscribing of a server without https is a warning', async () => {
  const insecure = await startTestApi({ config: { publicUrl: 'http://mail.test' } });
  const created = await insecure.api('POST', '/campaigns', { body: campaignContent() });
  const { body } = await insecure.api('POST', `/campaigns/${created.body.data.id}/check`);
  expect([body.oneClickUnsubscribe.https, codesOf(body)]).toEqual([
    false,
    expect.arrayContaining(['ONE_CLICK_NOT_HTTPS']),
  ]);
  await insecure.stop();
});

it('all domains behind the mail hosts of one provider share its warm-up', async () => {
  const dns = await createDnsServer();
  const warming = await startTestApi({ config: { DNS_SERVERS: [dns.address] } });
  const firstWarmUp = { plan: 'slow', step: 0, perDay: { '*': [100], 'gmail.com': [3, 5, 6] } };
  await meetSources(warming.em(), [{ name: 'new', kind: 'relay', pool: 'default', label: 'new', firstWarmUp }]);
  for (const domain of ['one.test', 'two.test', 'three.test']) {
    dns.set(domain, { MX: [[5, 'aspmx.l.google.com']] });
    for (const name of ['ann', 'bob', 'cat']) {
      await warming.api('POST', '/contacts', { body: { email: `${name}@${domain}` } });
    }
  }
  const created = await warming.api('POST', '/campaigns', { body: campaignContent() });
  const { body } = await warming.api('POST', `/campaigns/${created.body.data.id}/check`);
  expect(body.warmUp).toEqual({ days: 3, provider: 'gmail.com' });
  await warming.stop();
  await dns.close();
});

describe('POST /campaigns/:id/check', () => {
  it.each<[CampaignStatus, number]>([
    ['DRAFT', 200],
    ['SCHEDULED', 200],
    ['SENDING', 400],
    ['SENT', 400],
    ['CANCELLED', 400],
  ])('of a campaign in %s is %i, and changes nothing', async (status, expected) => {
    const before = await app.campaignIn(status);
    expect((await app.call('POST', before.id, '/check')).status).toBe(expected);
    expect(await app.read(before.id)).toEqual(before);
  });

  it('of an unknown campaign, or one of another project, is 404', async () => {
    const theirs = await app.createCampaign({}, await app.createProject());
    for (const id of [UNKNOWN_ID, theirs.id]) expect((await app.call('POST', id, '/check')).status).toBe(404);
  });
});
