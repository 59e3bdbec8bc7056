import { describe, expect, it } from '@jest/globals';
import type { Filter } from './filter-condition.ts';
import { collectReferences, filterTarget, STANDARD_FIELDS } from './filter-target.ts';

const SEGMENT = '0190e000-0000-7000-8000-00000000ABCD';

function filter(field: string, operator: Filter['operator'], value?: unknown): Filter {
  return { field, operator, value };
}

describe('filterTarget', () => {
  it.each([
    [filter('email', 'equals', 'x'), { kind: 'standard', field: 'email' }],
    [filter('contact.updatedAt', 'exists'), { kind: 'standard', field: 'updatedAt' }],
    [filter('data.a.b c', 'exists'), { kind: 'data', path: 'a.b c' }],
    [filter('contact.data.plan', 'exists'), { kind: 'data', path: 'plan' }],
    [filter('data.__proto__', 'exists'), { kind: 'data', path: '__proto__' }],
    [filter('topic.news-1', 'equals', true), { kind: 'topic', key: 'news-1' }],
    [filter('contact.topic.news', 'exists'), { kind: 'topic', key: 'news' }],
    [filter('topic.subscribed', 'triggered'), { kind: 'event', name: 'topic.subscribed' }],
    [filter('event.order.total', 'greaterThan', 5), { kind: 'context', path: 'order.total' }],
    [filter('order paid', 'triggered'), { kind: 'event', name: 'order paid' }],
    [filter('event.order paid', 'triggered'), { kind: 'event', name: 'order paid' }],
    [filter('event.data.x', 'triggered'), { kind: 'event', name: 'data.x' }],
    ...Object.keys(STANDARD_FIELDS).map((name) => [filter(name, 'triggered'), { kind: 'event', name }] as const),
    [filter('contact.subscribed', 'triggered'), { kind: 'event', name: 'contact.subscribed' }],
    [filter('segment.vip.entry', 'notTriggered'), { kind: 'event', name: 'segment.vip.entry' }],
    [filter('email.opened', 'triggered'), { kind: 'emailActivity', activity: 'opened' }],
    [filter('email.humanClicked', 'triggeredWithin'), { kind: 'emailActivity', activity: 'humanClicked' }],
    [filter('event.email.opened', 'triggered'), { kind: 'emailActivity', activity: 'opened' }],
    [filter('email.bounce', 'triggered'), { kind: 'event', name: 'email.bounce' }],
    [filter(`segment.${SEGMENT}`, 'memberOfSegment'), { kind: 'segment', segmentId: SEGMENT.toLowerCase() }],
    [filter('segment', 'notMemberOfSegment', SEGMENT), { kind: 'segment', segmentId: SEGMENT.toLowerCase() }],
  ])('reads %j', (input, target) => {
    expect(filterTarget(input)).toEqual(target);
  });

  it.each([
    [filter('plan', 'equals', 'x'), 'field'],
    [filter('data.', 'exists'), 'field'],
    [filter('topic.', 'equals', true), 'field'],
    [filter('topic.News', 'equals', true), 'field'],
    [filter('data', 'exists'), 'field'],
    [filter('event.', 'exists'), 'field'],
    [filter('event.', 'triggered'), 'field'],
    [filter(`data${'.a'.repeat(21)}`, 'exists'), 'field'],
    [filter('data.plan', 'triggered'), 'field'],
    [filter(`segment.${SEGMENT}`, 'triggered'), 'field'],
    [filter(`segment.${SEGMENT}`, 'equals', true), 'field'],
    [filter('email.reopened', 'triggered'), 'field'],
    [filter('email.opened', 'exists'), 'field'],
    [filter('segment.vip', 'memberOfSegment'), 'field'],
    [filter('segment', 'memberOfSegment'), 'value'],
    [filter('segment', 'memberOfSegment', 'vip'), 'value'],
    [filter(`segment.${SEGMENT}`, 'memberOfSegment', SEGMENT.replace('0190', '0191')), 'value'],
  ])('refuses %j', (input, part) => {
    expect(filterTarget(input)).toMatchObject({ kind: 'unknown', part });
  });
});

describe('collectReferences', () => {
  it('lists each reference once, without redundant prefixes', () => {
    const condition = {
      logic: 'AND' as const,
      groups: [
        {
          filters: [
            filter('data.plan', 'equals', 'pro'),
            filter('contact.data.plan', 'exists'),
            filter('subscribed', 'equals', true),
            filter('contact.topic.news', 'equals', true),
            filter('buy', 'triggered'),
            filter('event.buy', 'notTriggered'),
            filter('event.total', 'exists'),
          ],
          conditions: {
            logic: 'OR' as const,
            groups: [
              { filters: [filter('email.clicked', 'triggered'), filter(`segment.${SEGMENT}`, 'memberOfSegment')] },
            ],
          },
        },
      ],
    };

    expect(collectReferences(condition)).toEqual({
      fields: ['data.plan', 'subscribed', 'topic.news'],
      events: ['buy'],
      segments: [SEGMENT.toLowerCase()],
      emailActivities: ['clicked'],
    });
  });
});
