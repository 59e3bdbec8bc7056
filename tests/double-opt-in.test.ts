import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { optInWorkflowId } from '../shared/pure/workflow-contracts.ts';
import { sql } from '../shared/database/sql.ts';
import { REACHES } from '../shared/domain/lifecycle/reconciliation.ts';
import { reconcileWithTemporal } from '../shared/domain/lifecycle/reconcile.ts';
import { createLogger } from '../shared/platform/logger.ts';
import { optInsOf, subscribe } from './support/opt-ins.ts';
import { untilHandedOver } from './support/reconcile.ts';
import { query } from './support/rows.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.stop());

const mailsTo = (address: string) => stack.sink.messages().filter(({ to }) => to.includes(address));

/** The path of the link in the last message to an address, once there are so many. */
async function linkTo(address: string, count = 1): Promise<string> {
  const mails = await eventually(async () => mailsTo(address).length >= count && mailsTo(address));
  const html = String((await mails.at(-1)!.parsed()).html);
  return new URL(/href="([^"]+\/confirm\/[^"]+)"/.exec(html)?.[1] ?? '').pathname;
}

const contactOf = async (email: string) =>
  (await stack.api('POST', '/contacts/search', { body: { search: email } })).body.data[0];

describe('a subscription through a form', () => {
  it('waits for its confirmation, which ends the workflow', async () => {
    const email = 'ada@mail.test';
    const reply = await subscribe(stack, { email: 'Ada@mail.test', data: { firstName: 'Ada' }, language: 'de' });
    expect([reply.status, reply.body]).toEqual([202, { success: true, data: { accepted: true } }]);
    const path = await linkTo(email);
    const message = await mailsTo(email)[0]!.parsed();
    expect(message.subject).toBe('Bitte bestätigen Sie Ihr Abonnement');
    expect(message.from?.text).toBe('no-reply@example.com');
    expect(message.headers.get('auto-submitted')).toBe('auto-generated');
    expect(message.headers.has('list-unsubscribe')).toBe(false);
    expect(message.text).toContain('Bestätigen');
    expect(await contactOf(email)).toMatchObject({ subscribed: false, pending: true, data: {} });

    const shown = await fetch(`${stack.url}${path}`);
    expect(await shown.text()).toContain('<bdi>ada@mail.test</bdi>');
    expect(await contactOf(email)).toMatchObject({ subscribed: false, pending: true });
    const confirmed = await fetch(`${stack.url}${path}`, { method: 'POST' });
    expect([confirmed.status, await confirmed.text()]).toEqual([200, expect.stringContaining('Sie sind angemeldet')]);
    expect(await contactOf(email)).toMatchObject({
      subscribed: true,
      data: { firstName: 'Ada', locale: 'de' },
    });
    const [optIn] = await optInsOf(stack.em(), stack.project.id, email);
    expect(optIn).toMatchObject({ state: 'confirmed', mails: 1, data: {} });
    const handle = stack.temporal.client.workflow.getHandle(optInWorkflowId(optIn!.id as string));
    expect(await handle.result()).toBe('confirmed');
    expect(mailsTo(email)).toHaveLength(1);
  });

  it('is asked for again while it waits, and at most three mails go to the address, by however many requests', async () => {
    const email = 'often@mail.test';
    await subscribe(stack, { email });
    await linkTo(email, 1);
    for (const count of [2, 3]) {
      await subscribe(stack, { email });
      await linkTo(email, count);
    }
    const replies = await Promise.all(Array.from({ length: 10 }, () => subscribe(stack, { email })));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([202]));
    await eventually(async () => (await optInsOf(stack.em(), stack.project.id, email))[0]?.is_mail_wanted === false);
    const contactId = (await contactOf(email)).id as string;
    // A new contact and a new opt-in do not start a new count.
    await stack.api('DELETE', `/contacts/${contactId}`);
    await subscribe(stack, { email });
    const [fresh] = await eventually(async () => {
      const optIns = await optInsOf(stack.em(), stack.project.id, email);
      return optIns.length === 1 && optIns[0]?.is_mail_wanted === false && optIns;
    });
    expect(fresh).toMatchObject({ state: 'pending', mails: 0 });
    expect(mailsTo(email)).toHaveLength(3);
  });

  it('whose workflow is lost is started again, and confirms all the same', async () => {
    const email = 'lost@mail.test';
    await subscribe(stack, { email });
    const path = await linkTo(email);
    const [optIn] = await optInsOf(stack.em(), stack.project.id, email);
    const id = optIn!.id as string;
    const handle = stack.temporal.client.workflow.getHandle(optInWorkflowId(id));
    await untilHandedOver(stack.em);
    await handle.terminate();
    const { restarted } = await reconcileWithTemporal(
      {
        em: stack.em,
        temporal: stack.temporal.client,
        asOf: new Date(),
        logger: createLogger({ level: 'silent', name: 'test' }),
      },
      REACHES.all,
    );
    expect(restarted).toContain(optInWorkflowId(id));
    await eventually(async () => (await handle.describe()).status.name === 'RUNNING');
    await fetch(`${stack.url}${path}`, { method: 'POST' });
    expect(await stack.temporal.client.workflow.getHandle(optInWorkflowId(id)).result()).toBe('confirmed');
    expect(mailsTo(email)).toHaveLength(1);
  });

  it('ends the pause of a contact who subscribes again', async () => {
    const email = 'paused@mail.test';
    const pausedUntil = new Date(Date.now() + 86_400_000).toISOString();
    const created = await stack.api('POST', '/contacts', { body: { email, subscribed: false } });
    await stack.api('PATCH', `/contacts/${created.body.id}`, { body: { pausedUntil } });
    await subscribe(stack, { email });
    await fetch(`${stack.url}${await linkTo(email)}`, { method: 'POST' });
    const { body } = await stack.api('GET', `/contacts/${created.body.id}`);
    expect(body).toMatchObject({ subscribed: true });
    expect(body).not.toHaveProperty('pausedUntil');
  });

  it('leaves ids alone in its history', async () => {
    const email = 'history@mail.test';
    await subscribe(stack, { email, data: { secret: 'wordofdata' } });
    await linkTo(email);
    const [optIn] = await optInsOf(stack.em(), stack.project.id, email);
    const handle = stack.temporal.client.workflow.getHandle(optInWorkflowId(optIn!.id as string));
    const history = JSON.stringify(await handle.fetchHistory(), (_key, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString() : value,
    );
    for (const word of [email, 'wordofdata', 'Test']) expect(history).not.toContain(word);
  });

  it('goes with its project', async () => {
    const project = await stack.createProject();
    await subscribe(project, { email: 'gone@mail.test' });
    await linkTo('gone@mail.test');
    const { deleteProject } = await import('../shared/domain/lifecycle/delete-project.ts');
    await deleteProject(stack.em(), project.project.id, async () => undefined);
    for (const table of [sql`opt_in`, sql`confirmation_mail`]) {
      expect(await query(stack.em(), sql`select 1 from ${table} where project_id = ${project.project.id}`)).toEqual([]);
    }
  });
});
