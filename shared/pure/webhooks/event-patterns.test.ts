import { describe, expect, it } from '@jest/globals';
import { likePattern, matchesPattern, ownEventsBeside, unknownPatterns } from './event-patterns.ts';

describe('a pattern of events', () => {
  it.each([
    ['*', 'anything', true],
    ['email.*', 'email.sent', true],
    ['email.*', 'emails.sent', false],
    ['segment.*.entry', 'segment.vip.entry', true],
    ['segment.*.entry', 'segment.entry', false],
    ['*a*b*', 'xxaxxb', true],
    ['*a*b*', 'xxbxxa', false],
    ['ab*ba', 'aba', false],
    ['order.paid', 'order.paid', true],
    ['order.paid', 'order_paid', false],
  ])('%s matches the name %s: %s', (pattern, name, isMatch) => expect(matchesPattern(pattern, name)).toBe(isMatch));

  it('matches the same names in LIKE: only its stars are wildcards', () => {
    expect(likePattern('a_b%c\\d.*')).toBe('a\\_b\\%c\\\\d.%');
  });

  it('is unknown when it begins like an event of Everpost and matches none', () => {
    const known = ['*', 'email.sent', 'email.*', 'contact.*', 'segment.vip.entry', 'segment.*', 'campaign.sent'];
    expect(unknownPatterns([...known, 'workflow.failed', 'order.paid', 'emails'])).toEqual([]);
    const unknown = [
      'email.delivered',
      'email.x*',
      'segment.vip',
      'campaign.opened',
      'contact.created',
      'webhook.test',
    ];
    expect(unknownPatterns(unknown)).toEqual(unknown);
  });

  it('has the events of Everpost with the same prefix as suggestions', () => {
    expect(ownEventsBeside('contact.created')).toEqual([
      'contact.subscribed',
      'contact.unsubscribed',
      'contact.paused',
      'contact.resumed',
    ]);
    expect(ownEventsBeside('email.opened')).toContain('email.open');
    expect(ownEventsBeside('segment.vip')).toEqual(['segment.<name>.entry', 'segment.<name>.exit']);
  });
});
