import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../../tests/support/api.ts';
import { query, sql } from '../../database/sql.ts';
import { disableEndpoint, openEndpoint, recordDeliveries } from './delivery-state.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

it('an endpoint that is changed while a request fails is called again at once, and is not disabled', async () => {
  const { body } = await app.api('POST', '/webhooks', { body: { url: 'https://203.0.114.9/wrong' } });
  await query(
    app.em(),
    sql`update webhook_endpoint set failures = 9, failing_since = now() - interval '9 days' where id = ${body.id}`,
  );
  const opened = (await openEndpoint(app.em(), body.id))!;
  const change = { url: 'https://203.0.114.9/right', enabled: true };
  expect((await app.api('PATCH', `/webhooks/${body.id}`, { body: change })).status).toBe(200);
  await recordDeliveries(app.em(), opened, { records: [], verdict: 'failed', pauseMs: 3_600_000 });
  await disableEndpoint(app.em(), opened, 'it accepted no event for 5 days');
  const changed = (await openEndpoint(app.em(), body.id))!;
  expect(changed).toMatchObject({ isEnabled: true, failures: 0, failingSince: null, waitMs: 0 });

  await recordDeliveries(app.em(), changed, { records: [], verdict: 'failed', pauseMs: 3_600_000 });
  await disableEndpoint(app.em(), changed, 'it answered 410 Gone');
  expect(await openEndpoint(app.em(), body.id)).toMatchObject({ isEnabled: false, failures: 1 });
});
