import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { sql } from '../../shared/database/sql.ts';
import { upsertContacts } from '../../shared/domain/contacts/contacts.ts';
import { unsubscribeByEmail } from '../../shared/domain/emails/subscription-links.ts';
import { deleteContacts } from '../../shared/domain/lifecycle/delete-contacts.ts';
import { updateProject } from '../../shared/domain/lifecycle/update-project.ts';
import { changeTopics } from '../../shared/domain/topics/topic-choices.ts';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';
import { createReaders, ONE_CLICK, post, type Readers } from '../../tests/support/readers.ts';
import { query } from '../../tests/support/rows.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

let readers: Readers;
beforeEach(async () => {
  readers = await createReaders(app);
});

describe('the unsubscribe link of an email with a topic', () => {
  it.each(['topicId', 'campaignTopicId'])('leaves that topic only, known by %s, once however often', async (by) => {
    const [topicId, other] = [await readers.addTopic(), await readers.addTopic()];
    const mail = await readers.addMail({ [by]: topicId });
    const replies = await Promise.all([1, 2, 3].map(() => post(mail.links.unsubscribeUrl, ONE_CLICK)));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await readers.stateOf(mail)).toMatchObject({
      subscribed: true,
      topics: { [topicId]: false },
      count: 1,
      events: ['topic.unsubscribed'],
      data: [{ topicId, reason: 'one_click', emailId: mail.emailId, campaignId: mail.campaignId }],
    });
    expect(replies[0]?.text).toContain(other);
    expect(replies[0]?.headers.get('cache-control')).toContain('no-store');
  });

  it('names the topic, changes nothing on GET, and offers the rest after POST', async () => {
    const [topicId, other] = [
      await readers.addTopic({ name: 'Tea & <b>' }),
      await readers.addTopic({ name: 'Coffee' }),
    ];
    const mail = await readers.addMail({ topicId });
    for (const url of Object.values({ ...mail.links }).filter((value) => typeof value === 'string')) {
      if (/\/(unsubscribe|subscribe|manage)\//.test(url)) await fetch(url);
    }
    expect(await readers.stateOf(mail)).toMatchObject({ subscribed: true, topics: {}, events: [], count: 0 });
    const asked = await (await fetch(mail.links.unsubscribeUrl)).text();
    expect(asked).toContain('no longer want to receive “<bdi>Tea &amp; &lt;b&gt;</bdi>”');
    const { text } = await post(mail.links.unsubscribeUrl);
    expect(text).toContain('receives no more “<bdi>Tea &amp; &lt;b&gt;</bdi>”');
    expect(text).toMatch(new RegExp(`value="${topicId}">`));
    expect(text).toMatch(new RegExp(`value="${other}" checked>`));
    expect(text).toContain('Why did you unsubscribe?');
    expect(text).toContain('name="all" value="off"');
    const [record] = await readers.recordsOf(mail);
    expect(record).toMatchObject({
      topic_id: topicId,
      state: 'unsubscribed',
      cause: 'link',
      client_address: '127.0.0.0/24',
    });
    const [wording] = await query(app.em(), sql`select content from wording where id = ${record?.['wording_id']}`);
    expect(wording?.['content']).toContain('no longer want to receive “Tea & <b>”');
    expect(wording?.['content']).not.toContain('@mail.test');
  });

  it('by mail leaves that topic only, too', async () => {
    const topicId = await readers.addTopic();
    const mail = await readers.addMail({ topicId });
    await unsubscribeByEmail(app.em(), mail.emailId);
    expect(await readers.stateOf(mail)).toMatchObject({ subscribed: true, topics: { [topicId]: false }, count: 1 });
    expect(await readers.recordsOf(mail)).toMatchObject([{ cause: 'email', wording_id: null, client_address: null }]);
  });

  it('gives the topic back through the subscribe link, also to somebody who has left everything', async () => {
    const topicId = await readers.addTopic({ defaultSubscription: 'opt_out' });
    const mail = await readers.addMail({ topicId });
    expect((await post(mail.links.subscribeUrl)).text).toContain('You are subscribed');
    expect((await readers.stateOf(mail)).topics).toEqual({ [topicId]: true });
    await post(mail.links.unsubscribeUrl);
    await readers.save(mail, { shown: '', all: 'off' });
    expect(await readers.stateOf(mail)).toMatchObject({ subscribed: false, topics: { [topicId]: false }, count: 1 });
    expect(await (await fetch(mail.links.subscribeUrl)).text()).toContain('Do you want to receive “');
    await post(mail.links.subscribeUrl);
    expect(await readers.stateOf(mail)).toMatchObject({ subscribed: true, topics: { [topicId]: true } });
  });

  it('leaves a topic for good that the contact has never chosen', async () => {
    const topicId = await readers.addTopic({ defaultSubscription: 'opt_out', visibility: 'private' });
    const mail = await readers.addMail({ topicId });
    await post(mail.links.unsubscribeUrl, ONE_CLICK);
    expect(await readers.stateOf(mail)).toMatchObject({ subscribed: true, topics: { [topicId]: false }, events: [] });
  });

  it('leaves all marketing when the topic or the email is gone', async () => {
    const [topicId, foreign] = [await readers.addTopic(), await readers.addTopic()];
    const [withoutTopic, withoutEmail] = [
      await readers.addMail({ topicId }),
      await readers.addMail({ topicId: foreign }),
    ];
    await query(app.em(), sql`delete from topic where id = ${topicId}`);
    await query(app.em(), sql`delete from email where id = ${withoutEmail.emailId}`);
    for (const mail of [withoutTopic, withoutEmail]) {
      expect(await (await fetch(mail.links.unsubscribeUrl)).text()).toContain(
        'no longer want to receive newsletters from',
      );
      await post(mail.links.unsubscribeUrl, ONE_CLICK);
      expect(await readers.stateOf(mail)).toMatchObject({ subscribed: false, events: ['contact.unsubscribed'] });
    }
  });

  it('leaves the topic that the email had, although its campaign, template or step was deleted or has another', async () => {
    const [topicId, other] = [await readers.addTopic(), await readers.addTopic()];
    const [deleted, changed] = [
      await readers.addMail({ topicId, campaignTopicId: topicId }),
      await readers.addMail({ topicId, campaignTopicId: other }),
    ];
    await query(app.em(), sql`delete from campaign where id = ${deleted.campaignId}`);
    for (const mail of [deleted, changed]) {
      await post(mail.links.unsubscribeUrl, ONE_CLICK);
      expect(await readers.stateOf(mail)).toMatchObject({ subscribed: true, topics: { [topicId]: false } });
    }
  });

  it('finds the successor of a deleted contact, and the contact of an address, and works in a disabled project', async () => {
    const topicId = await readers.addTopic();
    const deleted = await readers.addMail({ topicId });
    await deleteContacts(app.em(), readers.projectId, [deleted.contactId]);
    expect((await post(deleted.links.manageUrl)).text).toContain('no longer on the list');
    const again = await addAgain(`${deleted.contactId}@mail.test`);
    const loose = await readers.addMail({ topicId, withoutContact: true });
    await updateProject(app.em(), readers.projectId, { disabled: true });
    for (const [links, contactId] of [
      [deleted.links, again],
      [loose.links, loose.contactId],
    ] as const) {
      expect((await post(links.unsubscribeUrl, ONE_CLICK)).status).toBe(200);
      const state = await readers.stateOf({ ...deleted, contactId });
      expect(state).toMatchObject({ subscribed: true, topics: { [topicId]: false } });
      expect((await readers.save({ links }, { shown: '', choice: topicId })).status).toBe(200);
      expect((await readers.stateOf({ ...deleted, contactId })).topics).toEqual({ [topicId]: true });
    }
  });

  async function addAgain(email: string): Promise<string> {
    const cause = { reason: 'api', endpoint: 'POST /contacts' } as const;
    const [contact] = await upsertContacts(app.em(), {
      projectId: readers.projectId,
      emails: [email],
      subscribedDefault: true,
      cause,
    });
    return contact!.id;
  }
});

describe('an email without a topic', () => {
  it('says and does what it did before there were topics, and then asks why', async () => {
    await readers.addTopic();
    const mail = await readers.addMail();
    const main = (html: string) => /<h1>[\s\S]*?<\/form>/.exec(html)?.[0];
    expect(main(await (await fetch(mail.links.unsubscribeUrl)).text())).toBe(
      `<h1>Unsubscribe</h1>
<p>Do you no longer want to receive newsletters from <bdi>Test</bdi> at <bdi>${mail.contactId}@mail.test</bdi>?</p>
<form method="post" action="../unsubscribe/${mail.links.unsubscribeUrl.split('/').pop()}"><button type="submit">Unsubscribe</button></form>`,
    );
    const { text } = await post(mail.links.unsubscribeUrl);
    expect(main(text)).toBe(
      `<h1>You are unsubscribed</h1>
<p role="status"><bdi>${mail.contactId}@mail.test</bdi> receives no more newsletters from <bdi>Test</bdi>.</p>
<form method="post" action="../subscribe/${mail.links.unsubscribeUrl.split('/').pop()}"><button type="submit">Subscribe</button></form>`,
    );
    expect(text).toContain('name="reason"');
    expect(text).not.toContain('name="choice"');
    expect(await readers.stateOf(mail)).toMatchObject({
      subscribed: false,
      topics: {},
      count: 1,
      events: ['contact.unsubscribed'],
    });
  });
});

describe('the preference page', () => {
  it('shows public topics, chosen private ones, and texts in the language of the reader', async () => {
    const texts = { de: { name: 'Tee', description: 'Jeden Tag' } };
    const tea = await readers.addTopic({ name: 'Tea', description: 'Daily', texts });
    const [hidden, chosen] = [
      await readers.addTopic({ visibility: 'private' }),
      await readers.addTopic({ visibility: 'private' }),
    ];
    const left = await readers.addTopic({ visibility: 'private' });
    const mail = await readers.addMail();
    const change = (topicId: string, subscribed: boolean) => ({ contactId: mail.contactId, topicId, subscribed });
    await changeTopics(app.em(), readers.projectId, [change(chosen, true), change(left, false)], {
      reason: 'track',
      key: 'public',
    });
    const page = async (language: string) =>
      (await fetch(mail.links.manageUrl, { headers: { 'accept-language': language } })).text();
    const german = await page('de');
    for (const text of [tea, chosen, '<bdi>Tee</bdi>', '<bdi>Jeden Tag</bdi>']) expect(german).toContain(text);
    for (const text of [hidden, left, 'Tea']) expect(german).not.toContain(text);
    expect(await page('fr')).toContain('<bdi>Daily</bdi>');
  });

  it('changes only what the reader has changed, so an old page brings nothing back', async () => {
    const [kept, left, joined] = [
      await readers.addTopic(),
      await readers.addTopic(),
      await readers.addTopic({ defaultSubscription: 'opt_out' }),
    ];
    const mail = await readers.addMail({ topicId: left });
    await post(mail.links.unsubscribeUrl, ONE_CLICK);
    const old = { shown: `${kept} ${left} language:`, choice: [kept, left, joined, 'language:'] };
    for (let turn = 0; turn < 2; turn++)
      expect((await readers.save(mail, old)).text).toContain('Your choices have been saved.');
    expect(await readers.stateOf(mail)).toMatchObject({
      topics: { [left]: false, [joined]: true },
      events: ['topic.unsubscribed', 'topic.subscribed'],
    });
    expect(await readers.recordsOf(mail)).toMatchObject([{ cause: 'one_click' }, { cause: 'page', topic_id: joined }]);
  });

  it('ignores what it did not offer, and what is no form', async () => {
    const [hidden, mail] = [
      await readers.addTopic({ visibility: 'private', defaultSubscription: 'opt_out' }),
      await readers.addMail(),
    ];
    const foreign = await (await createReaders(app)).addTopic({ defaultSubscription: 'opt_out' });
    const choice = [hidden, foreign, uuidV7(), 'x', "'", 'language:xx', 'tracking', '\0'];
    expect((await readers.save(mail, { shown: '', choice, all: 'maybe' })).status).toBe(200);
    expect((await post(mail.links.manageUrl)).status).toBe(200);
    expect((await post(mail.links.manageUrl, { body: '{"all":"off"}' })).status).toBe(200);
    expect(await readers.stateOf(mail)).toMatchObject({ subscribed: true, topics: {}, events: [] });
    const huge = await readers.save(mail, { shown: 'x'.repeat(40_000) });
    expect([huge.status, JSON.parse(huge.text).error.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });

  it('ends everything with one button, whatever else was ticked, and counts the campaign once', async () => {
    const [topicId, mail] = [await readers.addTopic({ defaultSubscription: 'opt_out' }), await readers.addMail()];
    const { text } = await readers.save(mail, { shown: '', choice: [topicId, 'pause'], all: 'off' });
    expect(text).toContain('Why did you unsubscribe?');
    expect(text).toContain('name="all" value="on"');
    await readers.save(mail, { shown: '', all: 'off' });
    expect(await readers.stateOf(mail)).toMatchObject({
      subscribed: false,
      pausedUntil: null,
      topics: {},
      count: 1,
      events: ['contact.unsubscribed'],
    });
  });

  it('gives somebody who has left everything the topics that they choose, and no others', async () => {
    const [one, two, three] = [
      await readers.addTopic(),
      await readers.addTopic(),
      await readers.addTopic({ defaultSubscription: 'opt_out' }),
    ];
    const mail = await readers.addMail();
    const { text } = await readers.save(mail, { shown: `${one} ${two}`, choice: [one, two], all: 'off' });
    expect(text).not.toContain(' checked');
    expect(text).toContain('Choose newsletters here to subscribe to them again.');
    await readers.save(mail, { shown: '', choice: three });
    expect(await readers.stateOf(mail)).toMatchObject({
      subscribed: true,
      topics: { [one]: false, [two]: false, [three]: true },
      events: [
        'contact.unsubscribed',
        ...Array(2).fill('topic.unsubscribed'),
        'contact.subscribed',
        'topic.subscribed',
      ],
    });
  });

  it('gives back what there was with the button', async () => {
    const [one, two] = [await readers.addTopic(), await readers.addTopic()];
    const mail = await readers.addMail();
    await readers.save(mail, { shown: `${one} ${two}`, choice: one, all: 'off' });
    const { text } = await readers.save(mail, { shown: '', all: 'on' });
    expect(text).toMatch(new RegExp(`value="${one}" checked>`));
    expect(await readers.stateOf(mail)).toMatchObject({ subscribed: true, topics: { [two]: false } });
  });

  it('stores the language where emails read it, and takes it back', async () => {
    const mail = await readers.addMail();
    const languageIn = async (fields: Record<string, string>) =>
      (await readers.save(mail, fields)).headers.get('content-language');
    const data = async () => (await query(app.em(), sql`select data from contact where id = ${mail.contactId}`))[0];
    expect(await languageIn({ shown: 'language:', choice: 'language:he' })).toBe('he');
    expect(await data()).toEqual({ data: { locale: 'he' } });
    expect(await languageIn({ shown: 'language:he', choice: 'language:he' })).toBe('he');
    expect(await languageIn({ shown: 'language:he', choice: 'language:' })).toBe('en');
    expect(await data()).toEqual({ data: {} });
  });

  it('asks about tracking only where the project asks', async () => {
    const mail = await readers.addMail();
    const allowed = async () =>
      (await query(app.em(), sql`select tracking_allowed from contact where id = ${mail.contactId}`))[0]?.[
        'tracking_allowed'
      ];
    await readers.save(mail, { shown: '', choice: 'tracking' });
    expect([await allowed(), (await readers.recordsOf(mail)).length]).toEqual([null, 0]);
    await query(app.em(), sql`update project set tracking = 'CONSENTED' where id = ${readers.projectId}`);
    for (let turn = 0; turn < 2; turn++) await readers.save(mail, { shown: '', choice: 'tracking' });
    expect(await allowed()).toBe(true);
    await readers.save(mail, { shown: 'tracking' });
    expect(await allowed()).toBe(false);
    expect(await readers.recordsOf(mail)).toMatchObject([
      { state: 'tracking_allowed', cause: 'page', wording_id: expect.any(String) },
      { state: 'tracking_denied', cause: 'page' },
    ]);
  });
});
