import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { encodeClickTarget, createLinkSigner, type EmailLinks } from '../../shared/sending/compose/links.ts';
import { reviseEngagements, recordEngagements } from '../../shared/domain/engagement/engagement.ts';
import { sql } from '../../shared/database/sql.ts';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';
import { query, queryOne } from '../../tests/support/rows.ts';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1';
const [HOME, OFFICE, SAFE_LINKS, AZURE] = ['198.51.100.7', '203.0.113.9', '40.94.34.52', '20.97.189.98'];
const SHOP = 'https://shop.test/';

let app: TestApi;
let signer: ReturnType<typeof createLinkSigner>;
beforeAll(async () => {
  app = await startTestApi({ config: { API_PROXY_SOURCES: ['127.0.0.1/32'] } });
  signer = createLinkSigner({ appSecret: app.config.APP_SECRET, publicUrl: app.url });
});
afterAll(() => app.stop());

interface Sent {
  emailId: string;
  contactId: string;
  campaignId: string;
  address: string;
  links: EmailLinks;
}

/** A campaign that handed its only email over some seconds ago; null: it is being handed over. */
async function sentEmail(secondsAgo: number | null = 120): Promise<Sent> {
  const [contactId, campaignId, emailId] = [uuidV7(), uuidV7(), uuidV7()];
  const { id: projectId } = app.project;
  const address = `${emailId}@mail.test`;
  await query(
    app.em(),
    sql`
      with person as (
        insert into contact (id, project_id, email, subscribed, created_at, updated_at)
        values (${contactId}, ${projectId}, ${address}, true, now(), now())
      ),
      news as (
        insert into campaign (id, project_id, name, subject, body, from_address, type, status, audience_type, total_recipients,
          sent_count, created_at, updated_at)
        values (${campaignId}, ${projectId}, 'N', 'News', 'B', 'news@example.com', 'MARKETING', 'SENT', 'ALL', 1, 1, now(), now())
      )
      insert into email (id, project_id, contact_id, campaign_id, campaign_seq, to_address, status, created_at, sent_at)
      values (${emailId}, ${projectId}, ${contactId}, ${campaignId}, 1, ${address}, 'SENT', now() - interval '1 hour',
        now() - ${secondsAgo}::float8 * interval '1 second')`,
  );
  return { emailId, contactId, campaignId, address, links: signer.recipientUrls({ contactId, emailId, projectId }) };
}

interface Client {
  at?: string;
  agent?: string;
  headers?: Record<string, string>;
  method?: string;
}
const PERSON: Client = { at: HOME, agent: FIREFOX };

async function visit(url: string, { at = HOME, agent = FIREFOX, headers, method = 'GET' }: Client): Promise<number> {
  const usual = { 'user-agent': agent, 'x-forwarded-for': at, 'accept-language': 'en' };
  return (await fetch(url, { method, redirect: 'manual', headers: { ...usual, ...headers } })).status;
}
const open = ({ links }: Sent, client = PERSON) => visit(links.openUrl, client);
const click = ({ links }: Sent, client = PERSON, path = '') =>
  visit(links.clickUrl(encodeClickTarget(`${SHOP}${path}`)), client);
const followHidden = ({ links }: Sent, client: Client) => visit(links.hiddenUrl, client);

/** The counters of all and those of people, and the verdicts of the events in their order. */
async function stateOf({ emailId, campaignId, contactId }: Sent) {
  const em = app.em();
  const counts = await queryOne(
    em,
    sql`
      select array[c.opened_count, c.clicked_count] as all, array[c.human_opened_count, c.human_clicked_count] as people,
        array[e.opens, e.clicks] as times, array[e.human_opened_at is not null, e.human_clicked_at is not null] as human
      from campaign c join email e on e.campaign_id = c.id where c.id = ${campaignId} and e.id = ${emailId}`,
  );
  const events = await query(
    em,
    sql`select name, data from event where contact_id = ${contactId} order by created_at, name desc, id`,
  );
  const verdicts = events.map(({ name, data }) => `${name.slice(6)} ${data.machineReason ?? String(data.isMachine)}`);
  return { ...counts, verdicts: verdicts.sort() } as Record<'all' | 'people' | 'times', number[]> & {
    human: boolean[];
    verdicts: string[];
  };
}

describe('an open and a click of a person', () => {
  it('count as all did before, and as those of a person', async () => {
    const mail = await sentEmail();
    expect(await open(mail)).toBe(200);
    for (let times = 0; times < 2; times++) expect(await click(mail)).toBe(302);
    expect(await stateOf(mail)).toEqual({
      all: [1, 1],
      people: [1, 1],
      times: [1, 2],
      human: [true, true],
      verdicts: ['click false', 'click false', 'open false'],
    });
    const [event] = await query(app.em(), sql`select data from event where contact_id = ${mail.contactId} limit 1`);
    expect(Object.keys(event!.data)).not.toContain('machineReason');
  });

  it('are a person’s two seconds after the hand-over, when the phone shows a notification', async () => {
    const mail = await sentEmail(2);
    await click(mail, { at: HOME, agent: IPHONE });
    expect(await stateOf(mail)).toMatchObject({ people: [1, 1], verdicts: ['click false', 'open false'] });
  });

  it('are a person’s when the image proxy of Gmail shows the email, or the hand-over is not recorded yet', async () => {
    const agent = 'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)';
    const mail = await sentEmail();
    await open(mail, { at: '66.249.84.33', agent });
    expect((await stateOf(mail)).people).toEqual([1, 0]);
    const early = await sentEmail(null);
    await click(early);
    expect((await stateOf(early)).people).toEqual([1, 1]);
  });

  it('are a person’s behind the address of a scanner that has another user agent', async () => {
    const mail = await sentEmail();
    const scanner = { at: OFFICE, agent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/109.0.0.0 Safari/537.36' };
    for (const path of ['a', 'b', 'c']) await click(mail, scanner, path);
    await followHidden(mail, scanner);
    await click(mail, { at: OFFICE, agent: FIREFOX }, 'b');
    expect(await stateOf(mail)).toMatchObject({ times: [1, 4], people: [1, 1], human: [true, true] });
  });
});

describe('a request that says itself that no person made it', () => {
  it.each<[string, Client]>([
    ['HEAD', { method: 'HEAD' }],
    ['Sec-Purpose', { headers: { 'sec-purpose': 'prefetch;prerender' } }],
    ['Purpose', { headers: { purpose: 'prefetch' } }],
    ['X-Moz', { headers: { 'x-moz': 'prefetch' } }],
    ['a scanner', { agent: 'Mozilla/5.0 (compatible; Barracuda Sentinel (EE))' }],
  ])('is counted nowhere, as before: %s', async (_name, client) => {
    const mail = await sentEmail();
    expect([await click(mail, client), await open(mail, client)]).toEqual([302, 200]);
    expect(await stateOf(mail)).toMatchObject({ all: [0, 0], people: [0, 0], times: [0, 0], verdicts: [] });
    await click(mail, PERSON);
    expect(await stateOf(mail)).toMatchObject({ all: [1, 1], people: [1, 1] });
  });
});

describe('a machine', () => {
  it.each<[string, string, Client, number | null]>([
    ['user_agent', 'an HTTP library', { agent: 'python-requests/2.32.3' }, 120],
    ['user_agent', 'a headless browser', { agent: 'Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/126.0.0.0' }, 120],
    ['network', 'Safe Links as a browser', { at: SAFE_LINKS }, 3_600],
    ['network', 'Exchange Online Protection over IPv6', { at: '2a01:111:f400:7e1b::205' }, 120],
    ['too_soon', 'one that is faster than a notification', {}, 0.1],
    ['too_soon', 'one in a data centre some seconds later', { at: AZURE }, 5],
  ])('by %s: %s, is counted with all and not with people', async (reason, _name, client, secondsAgo) => {
    const mail = await sentEmail(secondsAgo);
    await click(mail, client);
    expect(await stateOf(mail)).toEqual({
      all: [1, 1],
      people: [0, 0],
      times: [1, 1],
      human: [false, false],
      verdicts: [`click ${reason}`, `open ${reason}`],
    });
  });

  it('by its proxy loads the images of Yahoo Mail ahead', async () => {
    const mail = await sentEmail();
    await open(mail, { agent: 'YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html' });
    expect(await stateOf(mail)).toMatchObject({ all: [1, 0], people: [0, 0], verdicts: ['open mail_proxy'] });
  });

  it('that follows a second link a second later was one before, and a person stays a person', async () => {
    const mail = await sentEmail();
    const scanner = { at: OFFICE, agent: IPHONE };
    await click(mail, scanner, 'a');
    expect((await stateOf(mail)).people).toEqual([1, 1]);
    await click(mail, scanner, 'b');
    expect(await stateOf(mail)).toMatchObject({
      all: [1, 1],
      people: [0, 0],
      times: [1, 2],
      human: [false, false],
      verdicts: ['click many_links', 'click many_links', 'open many_links'],
    });
    await click(mail, PERSON, 'a');
    expect(await stateOf(mail)).toMatchObject({ all: [1, 1], people: [1, 1], times: [1, 3], human: [true, true] });
  });

  it('that follows a link again and again is a person with a bad mouse', async () => {
    const mail = await sentEmail();
    await Promise.all([click(mail), click(mail), click(mail)]);
    expect(await stateOf(mail)).toMatchObject({ people: [1, 1], times: [1, 3] });
  });

  it('follows the hidden link, and turns what it did and does; another client at the same time is left alone', async () => {
    const mail = await sentEmail();
    const scanner = { at: OFFICE, agent: FIREFOX };
    await Promise.all([open(mail, scanner), click(mail, scanner), click(mail, PERSON)]);
    expect((await stateOf(mail)).people).toEqual([1, 1]);
    const [status] = await Promise.all([followHidden(mail, scanner), click(mail, PERSON)]);
    expect(status).toBe(204);
    await click(mail, scanner);
    const state = await stateOf(mail);
    expect(state).toMatchObject({ all: [1, 1], people: [1, 1], times: [1, 4], human: [true, true] });
    expect(state.verdicts).toEqual([
      'click false',
      'click false',
      'click hidden_link',
      'click hidden_link',
      'open hidden_link',
    ]);
  });

  it('may follow the hidden link first, by HEAD, or at the same moment as all others', async () => {
    const [first, atOnce] = [await sentEmail(), await sentEmail()];
    await followHidden(first, { ...PERSON, method: 'HEAD' });
    await click(first, PERSON);
    expect(await stateOf(first)).toMatchObject({ all: [1, 1], people: [0, 0] });
    await Promise.all([
      ...['a', 'b', 'c', 'd'].map((path) => click(atOnce, PERSON, path)),
      open(atOnce, PERSON),
      followHidden(atOnce, PERSON),
      followHidden(atOnce, PERSON),
    ]);
    expect(await stateOf(atOnce)).toMatchObject({ all: [1, 1], people: [0, 0], human: [false, false] });
  });

  it('needs a token of ours for the hidden link, which is no other token', async () => {
    const mail = await sentEmail();
    const { openUrl, hiddenUrl } = mail.links;
    const urls = [`${hiddenUrl}A`, hiddenUrl.slice(0, -1), openUrl.replace('/o/', '/h/').replace('.gif', '')];
    for (const url of [...urls, `${hiddenUrl.replace('/h/', '/o/')}.gif`, hiddenUrl.replace('/h/', '/c/')])
      expect([url, await visit(url, PERSON)]).toEqual([url, 404]);
  });
});

describe('opens and clicks of people', () => {
  it('begin with the next person once the first one was a machine', async () => {
    const mail = await sentEmail();
    const scanner = { at: OFFICE, agent: FIREFOX };
    await open(mail, scanner);
    await click(mail, scanner);
    await open(mail, PERSON);
    await click(mail, PERSON);
    const momentOf = () =>
      queryOne(
        app.em(),
        sql`select human_opened_at as opened, human_clicked_at as clicked from email where id = ${mail.emailId}`,
      );
    const before = await momentOf();
    await followHidden(mail, scanner);
    const after = await momentOf();
    expect(after!.opened.getTime()).toBeGreaterThan(before!.opened.getTime());
    expect(after!.clicked.getTime()).toBeGreaterThan(before!.clicked.getTime());
    expect(await stateOf(mail)).toMatchObject({ all: [1, 1], people: [1, 1] });
  });

  it('are shown beside all of them: campaign, recipients as CSV, email, activity', async () => {
    const { project, api } = await app.createProject();
    const [mine, other] = [await sentEmail(), await sentEmail()];
    for (const { contactId, campaignId, emailId } of [mine, other]) {
      await query(app.em(), sql`update contact set project_id = ${project.id} where id = ${contactId}`);
      await query(app.em(), sql`update campaign set project_id = ${project.id} where id = ${campaignId}`);
      await query(app.em(), sql`update email set project_id = ${project.id} where id = ${emailId}`);
    }
    await click(mine, { at: SAFE_LINKS });
    await click(other, { at: SAFE_LINKS });
    const before = await api('GET', '/activity/stats');
    expect(before.body.totals).toMatchObject({ opened: 2, clicked: 2, humanOpened: 0, humanClicked: 0 });
    await click(mine, PERSON);

    const { body: stats } = await api('GET', `/campaigns/${mine.campaignId}/stats`);
    expect(stats).toMatchObject({ openedCount: 1, clickedCount: 1, humanOpenedCount: 1, humanClickedCount: 1 });
    expect(stats).toMatchObject({ openRate: 100, humanOpenRate: 100, humanClickRate: 100 });
    const { body: campaign } = await api('GET', `/campaigns/${other.campaignId}`);
    expect(campaign).toMatchObject({ openedCount: 1, clickedCount: 1, humanOpenedCount: 0, humanClickedCount: 0 });

    const { body: csv } = await api('GET', `/campaigns/${mine.campaignId}/recipients?format=csv`);
    const [names, values] = String(csv)
      .replaceAll('"', '')
      .trim()
      .split(/\r?\n/)
      .map((line) => line.split(','));
    const { body: email } = await api('GET', `/emails/${mine.emailId}`);
    expect(email.humanClickedAt).toMatch(/Z$/);
    expect(values![names!.indexOf('humanClickedAt')]).toBe(email.humanClickedAt);
    const shown = email.timeline.filter(({ link }: any) => link === SHOP);
    expect(shown.map((entry: any) => [entry.isMachine, entry.machineReason])).toEqual([
      [true, 'network'],
      [false, undefined],
    ]);

    const { body: figures } = await api('GET', '/activity/stats');
    expect(figures.totals).toMatchObject({ opened: 2, clicked: 2, humanOpened: 1, humanClicked: 1 });
    const ofDays = (key: string) => figures.series.reduce((sum: number, day: any) => sum + Number(day[key]), 0);
    expect([ofDays('humanOpened'), ofDays('humanClicked')]).toEqual([1, 1]);
  });

  it('are found by filters', async () => {
    const [human, machine] = [await sentEmail(), await sentEmail()];
    await click(human, PERSON);
    await click(machine, { at: SAFE_LINKS });
    const matching = async (field: string) => {
      const condition = { logic: 'AND', groups: [{ filters: [{ field, operator: 'triggered' }] }] };
      const { body: segment } = await app.api('POST', '/segments', { body: { name: uuidV7(), condition } });
      const { body } = await app.api('GET', `/segments/${segment.id}/contacts?pageSize=100`);
      const found = body.data.map(({ email }: any) => email);
      return [human, machine].map(({ address }) => found.includes(address));
    };
    expect(await matching('email.clicked')).toEqual([true, true]);
    expect(await matching('email.humanClicked')).toEqual([true, false]);
    expect(await matching('email.humanOpened')).toEqual([true, false]);
  });
});

describe('reviseEngagements', () => {
  it('changes nothing again, nothing of other emails, and nothing that was never recorded', async () => {
    const [mail, other] = [await sentEmail(), await sentEmail()];
    const engagement = ({ emailId }: Sent) => ({
      id: uuidV7(),
      emailId,
      url: SHOP,
      ageMs: 0,
      repeats: 0,
      machineReason: null,
    });
    const [mine, others] = [engagement(mail), engagement(other)];
    await recordEngagements(app.em(), [mine, others]);
    const revision = { id: mine.id, emailId: mail.emailId, machineReason: 'hidden_link' } as const;
    const unknown = { ...revision, id: uuidV7(), emailId: uuidV7() };
    await Promise.all([1, 2, 3].map(() => reviseEngagements(app.em(), [revision, unknown])));
    expect(await stateOf(mail)).toMatchObject({ all: [1, 1], people: [0, 0], human: [false, false] });
    expect(await stateOf(other)).toMatchObject({ all: [1, 1], people: [1, 1] });
    await recordEngagements(app.em(), [mine]);
    expect(await stateOf(mail)).toMatchObject({ times: [1, 1], people: [0, 0] });
  });

  it('leaves every count right whatever order people, machines and revisions of many emails come in', async () => {
    const mails = await Promise.all(Array.from({ length: 5 }, () => sentEmail()));
    await Promise.all(
      Array.from({ length: 60 }, async (_, i) => {
        const mail = mails[i % mails.length]!;
        const scanner = { at: OFFICE, agent: FIREFOX };
        const turn = Math.floor(i / mails.length) % 4;
        if (turn === 0) await click(mail, scanner, 'a');
        if (turn === 1) await open(mail, scanner);
        if (turn === 2) await (i % 2 ? click(mail, PERSON) : open(mail, scanner));
        if (turn === 3) await followHidden(mail, scanner);
      }),
    );
    for (const mail of mails) {
      const { all, people, human, verdicts, times } = await stateOf(mail);
      const ofPeople = verdicts.filter((verdict) => verdict.endsWith(' false'));
      expect(all).toEqual([1, 1]);
      expect(verdicts).toHaveLength(times[0]! + times[1]!);
      expect(people).toEqual([ofPeople.length > 0 ? 1 : 0, ofPeople.includes('click false') ? 1 : 0]);
      expect(human).toEqual(people.map((count) => count === 1));
    }
  });
});
