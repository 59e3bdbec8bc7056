import { describe, expect, it } from '@jest/globals';
import { isReservedEventName } from './reserved-events.ts';

describe('isReservedEventName', () => {
  it.each([
    'email.',
    'email.open',
    'email.anything',
    'contact.subscribed',
    'contact.unsubscribed',
    'contact.paused',
    'contact.resumed',
    'topic.subscribed',
    'topic.unsubscribed',
    'segment.vip.entry',
    'segment.a.b.exit',
    'segment..entry',
  ])('reserves %s', (name) => expect(isReservedEventName(name)).toBe(true));

  it.each([
    'email',
    'emails.sent',
    'Email.open',
    'contact.created',
    'contact.subscribed2',
    'topic.viewed',
    'segment.vip',
    'segment.vip.Entry',
    'segments.vip.entry',
    'vip.entry',
    '',
  ])('leaves %j to callers', (name) => expect(isReservedEventName(name)).toBe(false));
});
