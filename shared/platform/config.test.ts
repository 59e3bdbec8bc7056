import { describe, expect, it } from '@jest/globals';
import { publicUrlWarning, readConfig } from './config.ts';

it.each([
  ['https://mail.example.com', false],
  ['http://mail.example.com', true],
  ['http://10.0.0.1:3000', true],
  ['http://localhost:3000', false],
  ['http://127.0.0.1:3000', false],
  ['http://[::1]:3000', false],
])('links below %s are warned about: %s', (publicUrl, isWarnedAbout) => {
  expect(publicUrlWarning({ publicUrl }) !== undefined).toBe(isWarnedAbout);
});

describe('OPERATOR_EMAIL', () => {
  const environment = {
    DATABASE_URL: 'postgres://localhost/everpost',
    APP_SECRET: 'a secret of at least 32 characters',
    INBOUND_DOMAIN: 'In.Everpost.test',
  };

  it.each(['ops@in.everpost.test', 'ops@IN.everpost.TEST', 'ops@bounce.shop.test', 'no address'])(
    'cannot be %s: what is forwarded would come back',
    (OPERATOR_EMAIL) => {
      expect(() => readConfig({ ...environment, OPERATOR_EMAIL })).toThrow('OPERATOR_EMAIL');
    },
  );

  it('can be any other address', () => {
    const config = readConfig({ ...environment, OPERATOR_EMAIL: 'Ops@Everpost.test' });
    expect(config.OPERATOR_EMAIL).toBe('ops@everpost.test');
  });
});
