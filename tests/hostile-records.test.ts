import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import { expectShortTurns, startHostileApi, type HostileApi } from './support/hostile-api.ts';

/** Their conditions have more octets together than the heap of the process. */
const CAMPAIGNS = 800;
const STEPS = 400;

let app: HostileApi;
beforeAll(async () => {
  app = await startHostileApi();
  const filters = Array.from({ length: 900 }, () => ({ field: 'data.a', operator: 'equals', value: 'x'.repeat(200) }));
  const condition = JSON.stringify({ logic: 'AND', groups: [{ filters }] });
  const { id: projectId } = app.attacker.project;
  const em = app.database.orm.em.fork();
  await query(
    em,
    sql`
      with condition as materialized (select ${condition}::jsonb as tree),
      owner as (
        insert into automation (id, project_id, name, trigger_event, created_at, updated_at)
        select gen_random_uuid(), ${projectId}, 'A', 'visited', now(), now() from generate_series(1, ${STEPS / 5})
        returning id
      ),
      automation_steps as (
        insert into automation_step (id, automation_id, type, name, config, created_at, updated_at)
        select gen_random_uuid(), owner.id, 'CONDITION', 'C', jsonb_build_object('condition', tree), now(), now()
        from owner, condition, generate_series(1, 5)
      )
      insert into campaign (id, project_id, name, subject, body, from_address, audience_type, audience_condition,
        status, created_at, updated_at)
      select gen_random_uuid(), ${projectId}, 'C', 'S', 'B', 'a@example.com', 'FILTERED', tree,
        'SCHEDULED', now(), now()
      from condition, generate_series(1, ${CAMPAIGNS})`,
  );
});
afterAll(() => app.stop());

describe('conditions that are together larger than the memory', () => {
  it('are searched for a field', async () => {
    await expectShortTurns(app, async () => {
      const { status, body } = await app.attacker.api('GET', '/contacts/fields/data.a/usage');
      expect([status, body.usedInCampaigns.length, body.usedInWorkflows.length]).toEqual([200, CAMPAIGNS, STEPS / 5]);
    });
  });

  it('are searched for an event', async () => {
    await expectShortTurns(app, async () => {
      const { status, body } = await app.attacker.api('GET', '/events/clicked/usage');
      expect([status, body.usedInCampaigns, body.usedInWorkflows]).toEqual([200, [], []]);
    });
  });

  it('are searched for a segment that is deleted', async () => {
    await expectShortTurns(app, async () => {
      const { body } = await app.attacker.api('POST', '/segments', { body: { name: 'S', type: 'STATIC' } });
      expect((await app.attacker.api('DELETE', `/segments/${body.id}`)).status).toBe(204);
    });
  });
});

it('a page of bodies that need many escapes does not delay others', async () => {
  const text = '"\n'.repeat(990_000);
  await query(
    app.database.orm.em.fork(),
    sql`
      insert into template (id, project_id, name, subject, body, body_text, from_address, created_at, updated_at)
      select gen_random_uuid(), ${app.attacker.project.id}, 'T', 'S', ${text}, ${text}, 'a@example.com', now(), now()
      from generate_series(1, 2)`,
  );
  await expectShortTurns(app, async () => {
    const { body } = await app.attacker.api('GET', '/templates');
    expect(body.data.map((template: Record<string, unknown>) => [template['body'], template['text']])).toEqual(
      Array(2).fill([text, text]),
    );
  });
});

it('an execution of a large workflow with a thousand steps is answered', async () => {
  const em = app.database.orm.em.fork();
  const { id: projectId } = app.attacker.project;
  const { body } = await app.attacker.api('POST', '/workflows', { body: { name: 'W', eventName: 'visited' } });
  const [execution] = await query(
    em,
    sql`
      with graph as (
        insert into automation_graph (id, automation_id, graph, created_at)
        select gen_random_uuid(), ${body.id}, jsonb_build_object('steps', jsonb_agg(jsonb_build_object(
          'id', gen_random_uuid(), 'name', 'S' || n, 'type', 'EXIT', 'config', array_fill(0.123456789, array[330])
        )), 'transitions', '[]'::jsonb), now()
        from generate_series(1, 1000) n returning id, graph
      ),
      execution as (
        insert into automation_execution (id, project_id, automation_id, graph_id, contact_id, is_first, status,
          started_at, created_at, updated_at)
        select gen_random_uuid(), ${projectId}, ${body.id}, id, gen_random_uuid(), true, 'COMPLETED', now(), now(),
          now()
        from graph returning id
      ),
      steps as (
        insert into step_execution (id, execution_id, step_number, step_id, status, output, started_at)
        select gen_random_uuid(), execution.id, n, (graph -> 'steps' -> (n::int - 1) ->> 'id')::uuid, 'COMPLETED',
          '{}', now()
        from graph, execution, generate_series(1, 1000) n
      )
      select id from execution`,
  );
  await expectShortTurns(app, async () => {
    const path = `/workflows/${body.id}/executions/${execution?.id}`;
    const reply = await app.attacker.api('GET', path);
    expect(reply.status).toBe(200);
    expect(reply.body.stepExecutions.map(({ step }: { step: { name: string } }) => step.name)).toEqual(
      Array.from({ length: 1_000 }, (_, n) => `S${n + 1}`),
    );
  });
});

it('a cell of megabytes in a file of suppressions does not delay others', async () => {
  const form = new FormData();
  form.set('file', new File([`email\n${'\0'.repeat(5_000_000)}`], 'a.csv'));
  await expectShortTurns(app, async () => {
    const reply = await fetch(`${app.url}/suppressions/import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${app.attacker.keys.secretKey}` },
      body: form,
    });
    expect([reply.status, await reply.json()]).toEqual([200, expect.objectContaining({ failureCount: 1 })]);
  });
});
