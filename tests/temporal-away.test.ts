import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Connection } from '@temporalio/client';
import { OUTBOX_WORK } from '../shared/domain/work/outbox-work.ts';
import { createDispatcher } from '../shared/durable/outbox/dispatcher.ts';
import { createTemporalClient } from '../shared/durable/temporal/client.ts';
import { sql } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import { createLogger } from '../shared/platform/logger.ts';
import { startTestApi, type TestApi } from './support/api.ts';
import { eventually } from './support/eventually.ts';

const NOWHERE = { connectionOptions: { address: '127.0.0.1:1' }, namespace: 'default' };
/** Without the SDK's retries, because these last until the dispatcher gives up a start. */
const refused = Connection.lazy({ ...NOWHERE.connectionOptions, interceptors: [] });
const PATIENCE_MS = 60_000;

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

it(
  'the API accepts requests while Temporal is away, and its log says what waits once and not for each request',
  async () => {
    const lines: { level: number; kind: string; reason: string; msg: string }[] = [];
    const logger = createLogger({ level: 'warn', name: 'api' }, { write: (line) => void lines.push(JSON.parse(line)) });
    const client = createTemporalClient(NOWHERE, refused);
    const dispatcher = createDispatcher({ em: app.em, client, logger, kinds: OUTBOX_WORK });
    for (const name of ['ada', 'bo', 'cy']) {
      const email = { to: `${name}@mail.test`, from: 'hello@example.com', subject: 'Hello', body: '<p>Hello</p>' };
      expect((await app.api('POST', '/v1/send', { body: email })).status).toBe(200);
    }
    const waiting = () => query(app.em(), sql`select attempts from outbox`);
    const tries = async () => (await waiting()).reduce((sum: number, { attempts }) => sum + Number(attempts), 0);
    await eventually(async () => (await tries()) > 1, PATIENCE_MS);
    await dispatcher.stop();
    await client.connection.close();
    expect(lines).toEqual([expect.objectContaining({ msg: expect.stringMatching(/^Temporal did not take a start/) })]);
    expect((await waiting()).length).toBeGreaterThan(0);
  },
  2 * PATIENCE_MS,
);
