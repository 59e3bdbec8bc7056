import { randomUUID } from 'node:crypto';
import { Client, Connection, ScheduleOverlapPolicy } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { testEnvironment } from '../../tests/support/environment.ts';
import { ensureSchedules, setUpTemporal, type ScheduleDefinition } from './setup.ts';

let connection: Connection;

beforeAll(async () => {
  connection = await Connection.connect({ address: testEnvironment().temporalAddress });
});
afterAll(() => connection.close());

describe('setUpTemporal', () => {
  it('creates the namespace and its search attributes once', async () => {
    const namespace = `setup-${randomUUID()}`;
    const options = { connectionOptions: { address: testEnvironment().temporalAddress }, namespace };

    expect(await setUpTemporal(options, [])).toEqual({
      namespace,
      namespaceId: expect.any(String),
      isNamespaceNew: true,
      searchAttributesAdded: ['ProjectId', 'CampaignId', 'AutomationId', 'ContactId'],
      schedules: [],
    });
    expect(await setUpTemporal(options, [])).toEqual({
      namespace,
      namespaceId: expect.any(String),
      isNamespaceNew: false,
      searchAttributesAdded: [],
      schedules: [],
    });
    const { config } = await connection.workflowService.describeNamespace({ namespace });
    expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(3 * 86_400);
  });

  it('fails when Temporal does not answer', async () => {
    const options = { connectionOptions: { address: '127.0.0.1:9', connectTimeout: 500 }, namespace: 'default' };

    await expect(setUpTemporal(options, [])).rejects.toThrow('Temporal cannot be reached at 127.0.0.1:9');
  });
});

describe('ensureSchedules', () => {
  it('asks again when the server does not describe a schedule in time', async () => {
    let calls = 0;
    const impatient = await Connection.connect({
      address: testEnvironment().temporalAddress,
      interceptors: [
        (options, nextCall) => {
          const isFirst = options.method_definition.path.endsWith('/DescribeSchedule') && calls++ === 0;
          return nextCall(isFirst ? { ...options, deadline: Date.now() } : options) as never;
        },
      ],
    });
    const client = new Client({ connection: impatient, namespace: 'default' });
    const definition: ScheduleDefinition = {
      scheduleId: `schedule-${randomUUID()}`,
      workflowType: 'nothing',
      taskQueue: 'nobody-listens',
      summary: 'do nothing',
      spec: { calendars: [{ year: 2099 }] },
    };
    try {
      await ensureSchedules(client, [definition]);
      await ensureSchedules(client, [definition]);
      expect(calls).toBe(2);
    } finally {
      await client.schedule.getHandle(definition.scheduleId).delete();
      await impatient.close();
    }
  });

  it('creates a schedule, updates it, and keeps it paused when an operator has paused it', async () => {
    const client = new Client({ connection, namespace: 'default' });
    const definition: ScheduleDefinition = {
      scheduleId: `schedule-${randomUUID()}`,
      workflowType: 'nothing',
      taskQueue: 'nobody-listens',
      summary: 'do nothing',
      spec: { calendars: [{ hour: 3, minute: 30 }] },
    };
    expect(await ensureSchedules(client, [definition])).toEqual([definition.scheduleId]);
    const handle = client.schedule.getHandle(definition.scheduleId);
    try {
      await handle.pause('by an operator');
      await ensureSchedules(client, [
        { ...definition, spec: { intervals: [{ every: '5 minutes' }], jitter: '20 seconds' } },
      ]);

      const described = await handle.describe();
      expect(described.spec).toMatchObject({ calendars: [], intervals: [{ every: 300_000 }], jitter: 20_000 });
      expect(described.action).toMatchObject({ staticSummary: 'do nothing' });
      expect(described.policies).toMatchObject({ overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: 60_000 });
      expect(described.state).toMatchObject({ paused: true, note: 'by an operator' });
    } finally {
      await handle.delete();
    }
  });
});
