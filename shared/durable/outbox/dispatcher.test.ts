import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, type WorkflowClientInterceptor } from '@temporalio/client';
import { v7 as uuidV7 } from 'uuid';
import { startTestApi, type TestApi } from '../../../tests/support/api.ts';
import { executionsOf, track } from '../../../tests/support/automations.ts';
import { eventually } from '../../../tests/support/eventually.ts';
import { createGate } from '../../../tests/support/gate.ts';
import { createTestNamespace, type TestNamespace } from '../../../tests/support/temporal.ts';
import { startTcpProxy } from '../../../tests/support/tcp-proxy.ts';
import { sql } from '../../database/sql.ts';
import { query } from '../../../tests/support/rows.ts';
import { addToOutbox } from './outbox.ts';
import { createClaim, findDueKinds } from './outbox-claims.ts';
import { createOrm } from '../../domain/schema/orm.ts';
import { createLogger } from '../../platform/logger.ts';
import { emailDeliveryWorkflowId } from '../../pure/workflow-contracts.ts';
import { createDispatcher, type DispatcherDeps } from './dispatcher.ts';
import { OUTBOX_WORK } from '../../domain/work/outbox-work.ts';
import { createOpenDeliveries } from '../../../activities/emails/open-deliveries.ts';

let api: TestApi;
let temporal: TestNamespace;
beforeAll(async () => {
  [api, temporal] = await Promise.all([startTestApi(), createTestNamespace()]);
});
afterAll(async () => {
  await temporal.close();
  await api.stop();
});

async function withDispatcher(options: Partial<DispatcherDeps>, run: () => Promise<void>) {
  const logger = createLogger({ level: 'silent', name: 'test' });
  const deps = { em: api.em, client: temporal.client, logger, kinds: OUTBOX_WORK, ...options };
  const dispatcher = createDispatcher(deps);
  await run().finally(() => dispatcher.stop());
}

/** A client of the same namespace whose calls pass an interceptor. */
function clientWith(interceptor: WorkflowClientInterceptor): Client {
  const { connection } = temporal.client;
  return new Client({ connection, namespace: temporal.namespace, interceptors: { workflow: [interceptor] } });
}

async function addEmail(): Promise<string> {
  const emailId = uuidV7();
  await addToOutbox(api.em(), 'email', api.project.id, [emailId]);
  return emailId;
}

const deliveryOf = (emailId: string) => temporal.client.workflow.getHandle(emailDeliveryWorkflowId(emailId));

/** Waits until Temporal has the delivery of an email. */
async function untilHandedOver(emailId: string): Promise<void> {
  await eventually(() => deliveryOf(emailId).describe());
}

describe('a dispatcher', () => {
  it('says once that PostgreSQL is away, in one line without a stack', async () => {
    const lines: any[] = [];
    const logger = createLogger(
      { level: 'warn', name: 'test' },
      { write: (line) => void lines.push(JSON.parse(line)) },
    );
    const proxy = await startTcpProxy(api.database.url);
    const orm = await createOrm({ databaseUrl: proxy.url, applicationName: 'everpost-test' });
    let attempts = 0;
    const em = () => (++attempts, orm.em.fork());
    await proxy.cut();
    await withDispatcher({ logger, em }, async () => {
      await eventually(() => Promise.resolve(attempts > 4));
    });
    await proxy.restore();
    await orm.close();
    await proxy.close();
    const reasons = new Set(lines.map(({ msg }) => msg));
    expect(lines.length).toBeGreaterThan(0);
    expect(lines).toHaveLength(reasons.size);
    for (const line of lines) {
      expect(line.msg).toMatch(/^PostgreSQL cannot be used: .*read again/);
      expect(line.err).toBeUndefined();
    }
  });

  it('offers new emails to the open delivery of their project, and starts a delivery if that does not take them', async () => {
    const openDeliveries = createOpenDeliveries();
    const offered: string[][] = [];
    const take = async (emailIds: string[]) => {
      offered.push(emailIds);
      return offered.length === 1;
    };
    openDeliveries.add({ projectId: api.project.id, urgency: 'transactional' }, { take, close: () => undefined });
    await withDispatcher({ join: openDeliveries.offer }, async () => {
      const [taken, refused] = [await addEmail(), uuidV7()];
      await eventually(async () => offered.length === 1 && (await findDueKinds(api.em(), ['email'])).length === 0);
      await addToOutbox(api.em(), 'email', api.project.id, [refused]);
      await untilHandedOver(refused);
      expect(offered).toEqual([[taken], [refused]]);
      await expect(deliveryOf(taken).describe()).rejects.toThrow(/not found/);
    });
  });

  it('takes the other executions of a batch when Temporal refuses one of them', async () => {
    const { body } = await api.api('POST', '/workflows', { body: { name: 'W', eventName: 'entered' } });
    await api.api('PATCH', `/workflows/${body.id}`, { body: { enabled: true } });
    for (let n = 0; n < 5; n++) await track(api, `many${n}@mail.test`, 'entered');
    const executions = await executionsOf(api, body.id);
    const refused = executions[2].temporalWorkflowId;
    const client = clientWith({
      async startWithDetails(input, next) {
        if (input.options.workflowId === refused) throw new Error('refused for good');
        return next(input);
      },
    });
    const rows = () =>
      query(api.em(), sql`select subject_id as id, last_error as reason from outbox where kind = 'execution'`);
    await withDispatcher({ client }, async () => {
      await eventually(async () => (await rows())[0]?.reason !== null);
    });
    expect(await rows()).toEqual([{ id: executions[2].id, reason: 'refused for good' }]);
    for (const { temporalWorkflowId } of executions) {
      const handle = temporal.client.workflow.getHandle(temporalWorkflowId).describe();
      if (temporalWorkflowId === refused) await expect(handle).rejects.toThrow(/not found/);
      else expect((await handle).status.name).toBe('RUNNING');
    }
  });

  it('has few calls at a time for kinds that can wait, and starts the delivery of an email beside them', async () => {
    const gate = createGate(0);
    let underWay = 0;
    let most = 0;
    const client = clientWith({
      async signalWithStart(input, next) {
        most = Math.max(most, ++underWay);
        await gate.pass();
        return next(input).finally(() => --underWay);
      },
    });
    const ids = () => Array.from({ length: 10 }, () => uuidV7());
    await addToOutbox(api.em(), 'optIn', api.project.id, ids());
    await addToOutbox(api.em(), 'webhook', api.project.id, ids());
    await withDispatcher({ client }, async () => {
      await eventually(async () => underWay > 0);
      await untilHandedOver(await addEmail());
      gate.openUntil(20);
      await eventually(async () => (await findDueKinds(api.em(), ['optIn', 'webhook'])).length === 0);
    });
    expect(most).toBe(2);
  });

  it('does not offer emails that another process has claimed before, since it may have started their delivery', async () => {
    const openDeliveries = createOpenDeliveries();
    const offered: string[][] = [];
    const take = async (emailIds: string[]) => {
      offered.push(emailIds);
      return true;
    };
    openDeliveries.add({ projectId: api.project.id, urgency: 'transactional' }, { take, close: () => undefined });
    const emailId = await addEmail();
    await createClaim('email', { claimRows: 1, batchRows: 1 })(api.em());
    await query(api.em(), sql`update outbox set available_at = now()`);
    await withDispatcher({ join: openDeliveries.offer }, async () => {
      await untilHandedOver(emailId);
    });
    expect(offered).toEqual([]);
  });
});
