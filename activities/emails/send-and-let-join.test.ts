import { describe, expect, it } from '@jest/globals';
import { createOpenDeliveries, type DeliveryScope } from './open-deliveries.ts';
import { eventually } from '../../tests/support/eventually.ts';
import { sendAndLetJoin, type JoinableDelivery, type SendGroup } from './send-and-let-join.ts';

const scope: DeliveryScope = { projectId: 'project', urgency: 'transactional' };

interface Group {
  emailIds: string[];
  claim: () => void;
  end: (isDecided?: boolean) => void;
  fail: (error: Error) => void;
}

/** A delivery of the email `first`, whose groups end when the test says so. */
function deliver(options: Partial<JoinableDelivery> = {}) {
  const openDeliveries = createOpenDeliveries();
  const groups: Group[] = [];
  const send: SendGroup = (emailIds, claim) =>
    new Promise((resolve, reject) => {
      groups.push({ emailIds, claim, end: (isDecided = true) => resolve(isDecided), fail: reject });
    });
  const sent = sendAndLetJoin(['first'], {
    scope,
    openDeliveries,
    mayJoin: async () => true,
    send,
    signal: new AbortController().signal,
    ...options,
  });
  const offer = (id: string) => openDeliveries.offer({ kind: 'email', projectId: 'project', subjectIds: [id] });
  /** Offers an email to the delivery; resolves when its group has begun. */
  async function join(id: string): Promise<{ group: Group; isTaken: Promise<boolean> }> {
    const isTaken = offer(id);
    return { group: await eventually(async () => groups.find(({ emailIds }) => emailIds.includes(id))), isTaken };
  }
  return { openDeliveries, groups, sent, offer, join, first: groups[0] as Group };
}

describe('a delivery under way', () => {
  it('accepts emails of its project until shortly after the last of them is sent', async () => {
    const { sent, join, first, offer } = deliver();
    const second = await join('second');
    second.group.claim();
    expect(await second.isTaken).toBe(true);
    first.end();
    second.group.end();
    const third = await join('third');
    third.group.claim();
    third.group.end();
    expect(await sent).toEqual(['first', 'second', 'third']);
    expect(await offer('late')).toBe(false);
  });

  it('does not accept emails of other projects and urgencies', async () => {
    const { openDeliveries, first, sent } = deliver();
    expect(await openDeliveries.offer({ kind: 'email', projectId: 'other', subjectIds: ['a'] })).toBe(false);
    expect(await openDeliveries.offer({ kind: 'automationEmail', projectId: 'project', subjectIds: ['a'] })).toBe(
      false,
    );
    first.end();
    expect(await sent).toEqual(['first']);
  });

  it('accepts no more than a few groups at a time', async () => {
    const { sent, join, first, offer } = deliver();
    const others = await Promise.all(['a', 'b', 'c'].map((id) => join(id)));
    expect(await offer('too many')).toBe(false);
    for (const { group } of others) {
      group.claim();
      group.end();
    }
    first.end(false);
    expect(await sent).toEqual(['first', 'a', 'b', 'c']);
  });

  it('accepts no email when one must be tried again, so that its workflow can plan that', async () => {
    const { sent, first, offer } = deliver();
    first.end(false);
    expect(await sent).toEqual(['first']);
    expect(await offer('late')).toBe(false);
  });

  it('accepts no email when the project may not send any more', async () => {
    const { sent, first, offer, groups } = deliver({ mayJoin: async () => false });
    expect(await offer('second')).toBe(false);
    first.end();
    expect(await sent).toEqual(['first']);
    expect(groups).toHaveLength(1);
  });

  it('accepts no email when its worker is about to stop', async () => {
    const { openDeliveries, sent, first, offer } = deliver();
    openDeliveries.closeAll();
    expect(await offer('second')).toBe(false);
    first.end();
    expect(await sent).toEqual(['first']);
  });

  it('fails with the first error after all its groups have ended', async () => {
    const { sent, join, first } = deliver();
    const { group, isTaken } = await join('second');
    let isEnded = false;
    const ended = sent.catch((error: unknown) => error).finally(() => (isEnded = true));
    group.fail(new Error('the database is away'));
    expect(await isTaken).toBe(false);
    expect(isEnded).toBe(false);
    first.end();
    expect(await ended).toEqual(new Error('the database is away'));
  });
});

describe('open deliveries', () => {
  it('are one for each project, and few in all, because they wait in slots of a worker', () => {
    const { add } = createOpenDeliveries();
    const delivery = { take: async () => true, close: () => undefined };
    const takeOff = add(scope, delivery);
    expect(add(scope, delivery)).toBeUndefined();
    expect(add({ ...scope, projectId: 'second' }, delivery)).toBeDefined();
    expect(add({ ...scope, projectId: 'third' }, delivery)).toBeUndefined();
    takeOff?.();
    expect(add({ ...scope, projectId: 'third' }, delivery)).toBeDefined();
  });
});
