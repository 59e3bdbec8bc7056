import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from '../../shared/database/sql.ts';
import { setPause } from '../../shared/domain/contacts/contact-choices.ts';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';
import { createReaders, post, type Readers } from '../../tests/support/readers.ts';
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

describe('a pause', () => {
  const DAY = 86_400_000;

  it('lasts thirty days, says until when, and can be ended; topics do not end it, a new subscription does', async () => {
    const [topicId, mail] = [await readers.addTopic({ defaultSubscription: 'opt_out' }), await readers.addMail()];
    const { text } = await readers.save(mail, { shown: '', choice: 'pause' });
    const { pausedUntil, data } = await readers.stateOf(mail);
    expect(Math.abs(pausedUntil!.getTime() - Date.now() - 30 * DAY)).toBeLessThan(DAY / 24);
    expect(data).toEqual([
      { reason: 'page', emailId: mail.emailId, campaignId: mail.campaignId, pausedUntil: pausedUntil?.toISOString() },
    ]);
    const day = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' }).format(pausedUntil!);
    expect(text).toContain(`Paused until <bdi>${day}</bdi>`);
    expect(text).toContain(`receives no newsletters from <bdi>Test</bdi> until <bdi>${day}</bdi>`);

    await readers.save(mail, { shown: '', choice: ['pause', topicId] });
    expect((await readers.stateOf(mail)).pausedUntil).toEqual(pausedUntil);
    await readers.save(mail, { shown: 'pause' });
    expect((await readers.stateOf(mail)).pausedUntil).toBeNull();
    await readers.save(mail, { shown: '', choice: 'pause' });
    await readers.save(mail, { shown: 'pause', choice: 'pause', all: 'off' });
    await post(mail.links.subscribeUrl);
    const after = await readers.stateOf(mail);
    expect(after.pausedUntil).toBeNull();
    expect(after.events).toEqual([
      'contact.paused',
      'topic.subscribed',
      'contact.resumed',
      'contact.paused',
      'contact.unsubscribed',
      'contact.subscribed',
      'contact.resumed',
    ]);
    expect((await readers.recordsOf(mail)).map(({ state }) => state)).toEqual([
      'paused',
      'subscribed',
      'resumed',
      'paused',
      'unsubscribed',
      'subscribed',
      'resumed',
    ]);
  });

  it('that has ended by itself is none', async () => {
    const mail = await readers.addMail();
    await query(
      app.em(),
      sql`update contact set paused_until = now() - interval '1 second' where id = ${mail.contactId}`,
    );
    expect(await (await fetch(mail.links.manageUrl)).text()).toContain('Pause all newsletters for <bdi>30</bdi> days');
    const why = { cause: { reason: 'track', key: 'public' } } as const;
    expect(await app.em().transactional((tx) => setPause(tx, readers.projectId, mail.contactId, null, why))).toBe(
      false,
    );
    expect((await readers.stateOf(mail)).events).toEqual([]);
  });
});

describe('the reason for leaving', () => {
  it('is kept with what was left through the email, once, and never more than the limit', async () => {
    const [topicId, other] = [await readers.addTopic(), await readers.addTopic()];
    const mail = await readers.addMail({ topicId });
    await readers.save(mail, { reason: 'other', comment: 'too early' });
    await post(mail.links.unsubscribeUrl);
    const comment = `a\r\nb\0${'😀'.repeat(300)}`;
    await readers.save(mail, { shown: other, choice: other, reason: 'too_many', comment });
    await readers.save(mail, { reason: 'not_relevant', comment: 'again' });
    const { data, events } = await readers.stateOf(mail);
    expect(events).toEqual(['topic.unsubscribed']);
    const text = (data[0]?.['feedback'] as { text: string }).text;
    expect(data[0]?.['feedback']).toEqual({ reason: 'too_many', text });
    expect([text.slice(0, 3), text.length <= 500, text.isWellFormed()]).toEqual(['a\nb', true, true]);
    expect((await readers.recordsOf(mail))[0]?.['details']).toMatchObject({ feedback: { reason: 'too_many', text } });
  });

  it('is never asked for again, nor required', async () => {
    const mail = await readers.addMail();
    await post(mail.links.unsubscribeUrl);
    const { text } = await readers.save(mail, { reason: 'nonsense', comment: '  ' });
    expect(text).not.toContain('Why did you unsubscribe?');
    expect((await readers.stateOf(mail)).data).toEqual([expect.not.objectContaining({ feedback: expect.anything() })]);
  });
});

describe('switching without end', () => {
  it('is stopped after twenty times a day for each switch, and leaving goes on', async () => {
    const [topicId, mail] = [await readers.addTopic({ defaultSubscription: 'opt_out' }), await readers.addMail()];
    const [on, off] = [{ shown: '', choice: topicId }, { shown: topicId }];
    for (let turn = 0; turn < 20; turn++) {
      expect((await readers.save(mail, on)).status).toBe(200);
      expect((await readers.save(mail, off)).status).toBe(200);
    }
    const refused = await readers.save(mail, on);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '3600']);
    expect(refused.text).toContain('too often');
    expect((await readers.save(mail, { shown: '', choice: ['pause'] })).status).toBe(200);
    expect((await readers.save(mail, { shown: 'pause' })).status).toBe(429);
    expect((await readers.save(mail, { shown: '', choice: topicId, all: 'off' })).status).toBe(200);
    expect(await readers.stateOf(mail)).toMatchObject({ subscribed: false, topics: { [topicId]: false }, count: 1 });
  });

  it('leaves what the same form leaves', async () => {
    const [left, joined] = [await readers.addTopic(), await readers.addTopic({ defaultSubscription: 'opt_out' })];
    const mail = await readers.addMail();
    await query(
      app.em(),
      sql`
        insert into consent_record (contact_id, id, project_id, state, cause)
        select ${mail.contactId}, gen_random_uuid(), ${readers.projectId}, 'resumed', 'page' from generate_series(1, 20)`,
    );
    expect((await readers.save(mail, { shown: left, choice: joined })).status).toBe(429);
    expect((await readers.stateOf(mail)).topics).toEqual({ [left]: false });
  });
});
