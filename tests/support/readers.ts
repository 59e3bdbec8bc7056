import { v7 as uuidV7 } from 'uuid';
import { sql } from '../../shared/database/sql.ts';
import { createTopic, type NewTopic } from '../../shared/domain/topics/topics.ts';
import { createLinkSigner, type EmailLinks } from '../../shared/sending/compose/links.ts';
import type { TestApi } from './api.ts';
import { query } from './rows.ts';

let count = 0;

/** An email of a campaign that a contact got. */
export interface Mail {
  contactId: string;
  emailId: string;
  campaignId: string;
  links: EmailLinks;
}

/** The body of a mail program's button to unsubscribe (RFC 8058). */
export const ONE_CLICK = {
  body: 'List-Unsubscribe=One-Click',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
};

export async function post(url: string, init: RequestInit = {}) {
  const reply = await fetch(url, { method: 'POST', ...init });
  return { status: reply.status, headers: reply.headers, text: await reply.text() };
}

/** Topics, emails and what their readers do, in a project of their own. */
export async function createReaders(app: TestApi) {
  const projectId = (await app.createProject()).project.id;

  async function addTopic(topic: Partial<NewTopic> = {}): Promise<string> {
    const name = `topic ${++count}`;
    const all = { key: `topic-${count}`, name, defaultSubscription: 'opt_in', visibility: 'public', ...topic } as const;
    return (await createTopic(app.em(), projectId, all)).id;
  }

  /** An email of a campaign that a subscribed contact got. */
  async function addMail(options: { topicId?: string; campaignTopicId?: string; withoutContact?: boolean } = {}) {
    const [contactId, emailId, campaignId] = [uuidV7(), uuidV7(), uuidV7()];
    const address = `${contactId}@mail.test`;
    await query(
      app.em(),
      sql`
        with c as (
          insert into contact (id, project_id, email, subscribed, created_at, updated_at)
          values (${contactId}, ${projectId}, ${address}, true, now(), now())
        ), a as (
          insert into campaign (id, project_id, name, subject, body, from_address, type, status, audience_type, topic_id, created_at, updated_at)
          values (${campaignId}, ${projectId}, 'N', 'S', 'B', 'news@example.com', 'MARKETING', 'SENT', 'ALL', ${options.campaignTopicId ?? null}, now(), now())
        )
        insert into email (id, project_id, contact_id, campaign_id, to_address, status, topic_id, created_at)
        values (${emailId}, ${projectId}, ${options.withoutContact ? null : contactId}, ${campaignId}, ${address}, 'SENT',
          ${options.topicId ?? null}, now())`,
    );
    return { contactId, emailId, campaignId, links: linksOf(options.withoutContact ? emailId : contactId, emailId) };
  }

  function linksOf(contactId: string, emailId: string): EmailLinks {
    const signer = createLinkSigner({ appSecret: app.config.APP_SECRET, publicUrl: app.url });
    return signer.recipientUrls({ contactId, emailId, projectId });
  }

  /** Sends the form of the preference page: `shown` is what it showed, the rest what was sent. */
  const save = ({ links }: Pick<Mail, 'links'>, fields: Record<string, string | string[]>) => {
    const form = new URLSearchParams(
      Object.entries(fields).flatMap(([name, values]) =>
        [values].flat().map((value): [string, string] => [name, value]),
      ),
    );
    return post(links.manageUrl, { body: form });
  };

  async function stateOf({ contactId, campaignId }: Mail) {
    const [contact] = await query(app.em(), sql`select * from contact where id = ${contactId}`);
    const topics = await query(
      app.em(),
      sql`select topic_id, subscribed from topic_subscription where contact_id = ${contactId}`,
    );
    const events = await query(app.em(), sql`select name, data from event where contact_id = ${contactId} order by id`);
    const [campaign] = await query(app.em(), sql`select unsubscribed_count from campaign where id = ${campaignId}`);
    return {
      subscribed: contact?.['subscribed'],
      pausedUntil: contact?.['paused_until'] as Date | null,
      topics: Object.fromEntries(topics.map((row) => [row['topic_id'], row['subscribed']])),
      events: events.map(({ name }) => name as string),
      data: events.map(({ data }) => data as Record<string, unknown>),
      count: campaign?.['unsubscribed_count'],
    };
  }

  const recordsOf = ({ contactId }: Mail) =>
    query(app.em(), sql`select * from consent_record where contact_id = ${contactId} order by id`);

  return { projectId, addTopic, addMail, save, stateOf, recordsOf };
}

export type Readers = Awaited<ReturnType<typeof createReaders>>;
