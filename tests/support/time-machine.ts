import { Registry } from 'prom-client';
import { Client } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { createDeliveryMetrics } from '../../shared/sending/delivery-metrics.ts';
import { createActivities } from '../../activities/index.ts';
import { OUTBOX_WORK } from '../../shared/domain/work/outbox-work.ts';
import { createOpenDeliveries } from '../../activities/emails/open-deliveries.ts';
import { createSendingSlots } from '../../shared/sending/sending-slots.ts';
import { sql, type Em } from '../../shared/database/sql.ts';
import { withoutThreads } from './quiet-temporal.ts';
import { query } from './rows.ts';
import { linkSignerOf } from '../../shared/sending/compose/links.ts';
import { createLogger } from '../../shared/platform/logger.ts';
import { createSmtpPool } from '../../shared/sending/transport/smtp-pool.ts';
import { executionWorkflowId } from '../../shared/pure/workflow-contracts.ts';
import { testEnvironment } from './environment.ts';
import { callWorkflow } from '../../shared/durable/outbox/hand-over.ts';
import { createWorkers } from '../../worker/create-worker.ts';
import { startTestApi, type TestApi, type TestApiOptions } from './api.ts';
import { eventually } from './stack.ts';
import { startTimeSkippingServer } from './time-skipping-server.ts';

type Activities = ReturnType<typeof createActivities>;

export interface TimeMachineOptions extends TestApiOptions {
  /** Activities in place of the real ones. */
  replace?: (real: Activities) => Partial<Activities>;
}

export interface TimeMachine extends TestApi {
  environment: TestWorkflowEnvironment;
  /** Starts and signals the executions and opt-ins in the outbox, as the dispatcher does. */
  dispatch: () => Promise<void>;
  /** Dispatches, then waits until no execution is due. */
  settle: () => Promise<void>;
  /** Settles, skips so much time, and settles again. */
  advance: (ms: number) => Promise<void>;
  /** Skips time until an execution has ended. @returns its duration in milliseconds of virtual time */
  finish: (executionId: string) => Promise<number>;
}

/** Starts, signals and cancels the workflows of the executions and opt-ins that the outbox names. */
async function dispatchWorkflows(em: Em, client: Client): Promise<void> {
  const rows = await query(
    em,
    sql`delete from outbox where kind like 'execution%' or kind = 'optIn' returning kind, subject_id as id`,
  );
  for (const kind of ['execution', 'executionEvent', 'executionCancel', 'optIn'] as const) {
    const subjectIds = rows.filter((row) => row.kind === kind).map((row) => row.id);
    const batch = { batchId: '', kind, projectId: '', subjectIds, attempts: 0, isRestart: false, isNew: true };
    for (const call of await OUTBOX_WORK[kind].calls(em, batch)) await callWorkflow(client, call, batch, false);
  }
}

/** Whether an execution is due at this time. */
async function isAnyExecutionDue(em: Em, now: Date): Promise<boolean> {
  const [due] = await query(
    em,
    sql`
      select from automation_execution x left join event_wait w on w.execution_id = x.id
      where status = 'RUNNING' or status = 'WAITING' and (resume_at <= ${now} or w.event_id is not null) limit 1`,
  );
  return due !== undefined;
}

/** @returns milliseconds of virtual time from the start of the workflow to its end */
async function awaitExecution({ workflow }: Client, executionId: string): Promise<number> {
  const first = workflow.getHandle(executionWorkflowId(executionId));
  const { startTime } = await first.describe();
  await first.result().catch(() => undefined);
  // The clock of the server skips on to its next deadline, so it does not show when this workflow ended.
  const { closeTime } = await workflow.getHandle(executionWorkflowId(executionId)).describe();
  return (closeTime?.getTime() ?? Number.NaN) - startTime.getTime();
}

/**
 * The real API, workers and PostgreSQL on Temporal's test server, which skips time. That server has no search
 * attributes, so this module starts the workflows without them, instead of the dispatcher.
 */
export async function startTimeMachine({ replace, ...options }: TimeMachineOptions = {}): Promise<TimeMachine> {
  const environment = await startTimeSkippingServer();
  const api = await startTestApi({
    ...options,
    config: { API_RATE_LIMIT_PER_MINUTE: 1_000_000, ...options.config },
  });
  const { config } = api;
  const logger = createLogger({ level: 'silent', name: 'test' });
  const smtp = createSmtpPool({ urls: ['smtp://127.0.0.1:1'], maxConnections: 1, logger });
  const links = linkSignerOf(config);
  const orm = api.database.orm;
  const slots = createSendingSlots();
  const activities = createActivities({
    config,
    orm,
    logger,
    smtp,
    links,
    temporal: environment.client,
    metrics: createDeliveryMetrics(new Registry()),
    heartbeatMs: 500,
    openDeliveries: createOpenDeliveries(),
    slots,
  });
  const workers = await withoutThreads(() =>
    createWorkers({
      connection: environment.nativeConnection,
      namespace: environment.client.options.namespace,
      logger,
      slots,
      activities: { ...activities, ...replace?.(activities) },
      workflowBundlePath: testEnvironment().workflowBundlePath,
      taskQueues: ['orchestration', 'executions', 'jobs', 'webhooks'],
    }),
  );
  const running = Promise.all(workers.map((worker) => worker.run()));

  const client = new Client({
    connection: environment.client.connection,
    namespace: environment.client.options.namespace,
    interceptors: {
      workflow: [
        {
          startWithDetails: (input, next) =>
            next({ ...input, options: { ...input.options, typedSearchAttributes: undefined } }),
          signalWithStart: (input, next) =>
            next({ ...input, options: { ...input.options, typedSearchAttributes: undefined } }),
        },
      ],
    },
  });
  const dispatch = () => dispatchWorkflows(api.em(), client);
  async function settle(): Promise<void> {
    await eventually(async () => {
      await dispatch();
      return !(await isAnyExecutionDue(api.em(), new Date(await environment.currentTimeMs())));
    });
  }

  return {
    ...api,
    environment,
    dispatch,
    settle,
    async advance(ms) {
      await settle();
      await environment.sleep(ms);
      await settle();
    },
    async finish(executionId) {
      await dispatch();
      return awaitExecution(environment.client, executionId);
    },
    async stop() {
      for (const worker of workers) worker.shutdown();
      await running;
      await smtp.close();
      await environment.teardown();
      await api.stop();
    },
  };
}
