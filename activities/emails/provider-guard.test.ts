import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { createLogger } from '../../shared/platform/logger.ts';
import { createDeliveryMetrics } from '../../shared/platform/metrics/delivery-metrics.ts';
import type { SmtpOutcome } from '../../shared/platform/smtp/smtp-pool.ts';
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts';
import { eventually } from '../../tests/support/eventually.ts';
import { createProviderExchange } from './provider-exchange.ts';
import { createProviderGuard, type ProviderGuard } from './provider-guard.ts';

const SPAM: SmtpOutcome = {
  ...{ kind: 'rejected', stage: 'data', replyCode: 554, enhancedCode: '5.7.1' },
  reply: '554 5.7.1 Message rejected as spam',
};
const BLOCKED: SmtpOutcome = { ...SPAM, stage: 'rcpt', reply: '554 5.7.1 Your address is on a blocklist' };
const ACCEPTED: SmtpOutcome = { kind: 'accepted', reply: '250 2.0.0 OK' };

let database: TestDatabase;
let isOver = false;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  isOver = true;
  await database.drop();
});

const { signal } = new AbortController();
const envelopeTo = (to: string) => ({ from: 'news@example.com', to });

function createGuard(relay: string): ProviderGuard {
  const exchange = createProviderExchange({
    ...{ em: () => database.orm.em.fork(), relay, smtp: { isClosed: () => isOver } },
    metrics: createDeliveryMetrics(new Registry()),
    logger: createLogger({ level: 'silent', name: 'test' }),
  });
  return createProviderGuard(exchange, { add: () => undefined }, 10);
}

/** Hands emails of a project over, each with the same outcome. @returns what became of the last one */
async function send(guard: ProviderGuard, projectId: string, count: number, outcome: SmtpOutcome) {
  await guard.ready();
  let last;
  for (let n = 0; n < count; n++) {
    const envelope = envelopeTo(`reader${n}@home.test`);
    const admission = await guard.admit(envelope, projectId, signal);
    if (!('wait' in admission)) last = guard.settle(envelope, admission, outcome);
  }
  return last;
}

describe('a provider that refuses what one project sends', () => {
  it('holds the emails of that project alone, tries one after a while, and goes on when that is taken', async () => {
    const guard = createGuard('content');
    const address = 'reader@home.test';
    expect((await send(guard, 'loud', 1, SPAM))?.verdict).toMatchObject({ kind: 'sender', mayPass: false });
    await send(guard, 'loud', 12, SPAM);
    await eventually(async () => guard.isPaused(address, 'loud'));
    expect(guard.isPaused(address, 'quiet')).toBe(false);
    expect(await guard.admit(envelopeTo(address), 'quiet', signal)).toMatchObject({ provider: 'home.test' });
    expect(await guard.admit(envelopeTo(address), 'loud', signal)).toMatchObject({
      wait: { provider: 'home.test', reason: expect.stringContaining('554') },
    });
    await eventually(async () => {
      await send(guard, 'loud', 1, ACCEPTED);
      return !guard.isPaused(address, 'loud');
    }, 20_000);
  }, 40_000);

  it('holds the emails of all projects when its words are about our servers', async () => {
    const guard = createGuard('servers');
    await send(guard, 'loud', 12, BLOCKED);
    await eventually(async () => guard.isPaused('reader@home.test', 'quiet'));
  });
});
