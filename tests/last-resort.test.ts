import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { query, sql } from '../shared/database/sql.ts';
import { untilBlocked } from './support/database.ts';
import { eventually } from './support/eventually.ts';
import { startHostileApi, type HostileApi } from './support/hostile-api.ts';

let app: HostileApi;
beforeAll(async () => {
  app = await startHostileApi();
});
afterAll(() => app.stop());

describe('an error that nothing catches', () => {
  it.each(['throw', 'reject'] as const)(
    'by %s lets the API answer open requests, and ends it with 1',
    async (fault) => {
      if (!app.process.isRunning()) {
        app.process.start();
        await eventually(async () => (await fetch(`${app.url}/ready`)).ok);
      }
      const { database, neighbour } = app;
      const blocker = database.orm.em.fork();
      await blocker.begin();
      await query(blocker, sql`lock table event in exclusive mode`);
      const answer = neighbour.api('POST', '/v1/track', {
        key: 'public',
        body: { email: 'ada@example.com', event: 'under way' },
      });
      await untilBlocked(() => database.orm.em.fork());
      await app.process.ask(fault);
      await eventually(() =>
        fetch(`${app.url}/health`).then(
          () => false,
          () => true,
        ),
      );
      expect(app.process.isRunning()).toBe(true);
      await blocker.rollback();
      expect((await answer).status).toBe(200);
      expect(await app.process.exited()).toBe(1);
      await app.process.kill();
    },
  );
});
