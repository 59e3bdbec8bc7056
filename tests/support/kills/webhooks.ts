import { expect } from '@jest/globals';
import { sql } from '../../../shared/database/sql.ts';
import type { TestProject } from '../api.ts';
import { eventually } from '../eventually.ts';
import { createGate } from '../gate.ts';
import { startHookReceiver, type HookReceiver } from '../hook-receiver.ts';
import { PATIENCE_MS, type KillWorld, type Load } from './load.ts';
import { query, queryOne } from '../rows.ts';

/** The events that are delivered around each kill. */
const EVENTS = 1_000;

/** Events whose delivery waits for an answer when the worker is killed. */
export function webhookLoad(world: KillWorld): Load {
  const gate = createGate(EVENTS / 4);
  let project: TestProject;
  let receiver: HookReceiver;
  let endpointId: string;
  let eventCount = 0;
  const distinct = () => new Set(receiver.calls.map((call) => call.body.data.data.n)).size;
  async function addEvents(): Promise<void> {
    const { body } = await project.api('POST', '/contacts', { body: { email: 'many@mail.test' } });
    await query(
      world.em(),
      sql`
        insert into event (id, project_id, contact_id, name, data, created_at)
        select everpost_uuid_v7(), ${project.project.id}, case when n % 10 = 0 then ${body.id}::uuid end, 'step',
          jsonb_build_object('n', n), now()
        from generate_series(${eventCount + 1}::int, ${eventCount + EVENTS}::int) n`,
    );
    eventCount += EVENTS;
    await gate.untilHeld();
  }
  async function letGo(answers: number): Promise<void> {
    expect(distinct()).toBeLessThan(eventCount);
    gate.openUntil(answers);
  }

  return {
    name: 'loses no event of a webhook',
    isHeld: false,
    async begin() {
      project = await world.createProject();
      receiver = await startHookReceiver();
      receiver.answer((_call, response) => void gate.pass().then(() => response.writeHead(204).end()));
      const { body } = await project.api('POST', '/webhooks', { body: { url: receiver.url, events: ['step'] } });
      endpointId = body.id;
      // Transactions that write events and are held at the kill would keep these from being delivered.
      await addEvents();
    },
    points: {
      first: { letGo: () => letGo(EVENTS * 1.5) },
      second: { hold: addEvents, letGo: () => letGo(Infinity) },
    },
    async check() {
      await eventually(async () => distinct() === eventCount, PATIENCE_MS);
      const left = sql`
        select 1 from webhook_delivery where endpoint_id = ${endpointId} and status <> 'DELIVERED' limit 1`;
      await eventually(async () => (await queryOne(world.em(), left)) === undefined, PATIENCE_MS);
      await receiver.close();
    },
  };
}
