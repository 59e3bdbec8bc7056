import { describe, expect, it } from '@jest/globals';
import { sandboxBehaviour, sandboxDomains } from './sandbox.ts';

describe('the sandbox', () => {
  const domains = sandboxDomains('Mail.Example.com');

  it.each([
    ['delivered@sandbox.everpost.test', 'delivered'],
    ['Soft-Bounced+order-5@SANDBOX.everpost.test', 'soft-bounced'],
    ['bounced@sandbox.mail.example.com', 'bounced'],
    ['somebody@sandbox.everpost.test', 'unknown'],
    ['delivered@everpost.test', undefined],
    ['delivered@sandbox.example.com', undefined],
    ['delivered@a.sandbox.everpost.test', undefined],
  ])('takes %s as %s', (address, behaviour) => expect(sandboxBehaviour(address, domains)).toBe(behaviour));

  it('has only the fixed domain where the installation receives no mail', () => {
    expect(sandboxDomains(undefined)).toEqual(['sandbox.everpost.test']);
  });
});
