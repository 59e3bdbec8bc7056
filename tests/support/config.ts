import { readConfig, type Config } from '../../shared/platform/config.ts';

/** A configuration for tests: the defaults without logs, with `overrides`. */
export function testConfig(overrides: Partial<Config> = {}): Config {
  const config = readConfig({
    DATABASE_URL: 'postgres://127.0.0.1:1/none',
    APP_SECRET: 'a secret of a test run, which signs its links',
    LOG_LEVEL: 'silent',
    PUBLIC_URL: 'https://everpost.test',
  });
  return { ...config, ...overrides };
}
