import { setTimeout as delay } from 'node:timers/promises';
import { query, queryOne, sql } from '../shared/database/sql.ts';
import { number, tables } from '../shared/database/tables.ts';
import { createCampaign } from './harness/bench-mail.ts';
import { round, type Bench, type BenchContext } from './harness/contract.ts';
import type { BenchStack } from './harness/stack.ts';

const PROVIDERS = ['refusing.test', 'second.test', 'third.test'] as const;
const [REFUSING, ...OTHERS] = PROVIDERS;
/** At the first three stages a relay does not know the recipient yet, so one relay of several refuses all email. */
const STAGES = ['greeting', 'ehlo', 'mail', 'rcpt', 'data', 'content'] as const;
type Stage = (typeof STAGES)[number];

const POLL_MS = 100;
const RUN_MS_MAX = 15 * 60_000;
const START_MS_MAX = 10_000;
/** One in this many addresses of each provider is dead. */
const DEAD_EACH = 100;
/** An attempt that is followed by such a silence was the last before a pause. */
const SILENCE_MS = 2_000;

interface Seen {
  /** Emails a second to the domains that were asked for. */
  speed: number;
  refusedAt: number[];
  kinds: number;
}

interface Gateway {
  /** As in SMTP_URL. */
  urls: string;
  call: (method: 'GET' | 'POST' | 'DELETE', path?: string) => Promise<Seen>;
}

async function startGateway(context: BenchContext): Promise<Gateway> {
  const running = await context.startNode({ name: 'refusing-sink', entry: 'bench/harness/refusing-sink-main.ts' });
  const line = await running.line((text) => text.startsWith('{'), START_MS_MAX);
  const { smtpPorts, controlPort } = JSON.parse(line) as { smtpPorts: number[]; controlPort: number };
  return {
    urls: smtpPorts.map((port) => `smtp://127.0.0.1:${port}`).join(','),
    call: async (method, path = '') =>
      (await (await fetch(`http://127.0.0.1:${controlPort}/${path}`, { method })).json()) as Seen,
  };
}

/** Creates the contacts of a run, at the providers in turns. */
async function createContacts(stack: BenchStack, run: string, count: number): Promise<void> {
  await query(
    stack.em(),
    sql`
      insert into contact (id, project_id, email, subscribed, data, created_at, updated_at)
      select everpost_uuid_v7(), ${stack.project.id},
        case when (n / 3) % ${DEAD_EACH}::int = 0 then 'dead' else 'reader' end || n || '.' || ${run} || '@'
          || (${[...PROVIDERS]}::text[])[n % 3 + 1],
        true, jsonb_build_object('run', ${run}::text), now(), now()
      from generate_series(0, ${count - 1}::int) n`,
  );
  await query(stack.em(), sql`vacuum analyze contact`);
}

/** The time from the first refusal until no more email went to the provider. */
function pauseMs(refusedAt: readonly number[]): number {
  const last = refusedAt.findIndex((at, index) => (refusedAt[index + 1] ?? Infinity) - at > SILENCE_MS);
  return (refusedAt[last] ?? 0) - (refusedAt[0] ?? 0);
}

async function untilSent(stack: BenchStack, campaignId: string, run: string): Promise<void> {
  const endAt = Date.now() + RUN_MS_MAX;
  while (Date.now() < endAt) {
    const row = await queryOne(stack.em(), sql`select status from campaign where id = ${campaignId}`, {
      status: tables.campaign.status,
    });
    if (row?.status === 'SENT') return;
    await delay(POLL_MS);
  }
  throw new Error(`The campaign ${run} is not SENT after ${RUN_MS_MAX / 60_000} minutes`);
}

/** Sends a campaign, with refusals at a stage for a while, and counts the outcomes. */
async function runCampaign(
  context: BenchContext,
  stack: BenchStack,
  gateway: Gateway,
  { run, stage }: { run: string; stage: Stage | 'none' },
): Promise<Record<string, number>> {
  const [recipients, seconds] = [context.number('recipients'), context.number('seconds')];
  await createContacts(stack, run, recipients);
  const filters = [{ field: 'data.run', operator: 'equals', value: run }];
  const audienceCondition = { logic: 'AND', groups: [{ filters }] };
  const id = await createCampaign(stack, { name: run, audienceType: 'FILTERED', audienceCondition });
  await gateway.call('DELETE');
  await gateway.call('POST', stage === 'none' ? stage : `${stage}/${REFUSING}`);
  context.progress(stage === 'none' ? 'Sending without refusals' : `Sending with refusals at ${stage}`);
  await stack.call('POST', `/campaigns/${id}/send`, {});
  const beganAt = performance.now();
  if (stage !== 'none') {
    await delay(seconds * 1_000);
    await gateway.call('POST', 'none');
  }
  await untilSent(stack, id, run);
  const seen = await gateway.call('GET', `?${OTHERS.map((name) => `speed=${name}`).join('&')}`);
  const counts = await queryOne(
    stack.em(),
    sql`
      select count(*) filter (where e.status = 'FAILED')::int as failed,
        count(*) filter (where e.status = 'BOUNCED')::int as bounced,
        count(*) filter (where e.to_address like 'dead%')::int as dead,
        count(*) filter (where not c.subscribed and e.to_address like 'reader%')::int as unsubscribed,
        (select count(*) from suppression where project_id = ${stack.project.id})::int as suppressed
      from email e join contact c on c.id = e.contact_id where e.campaign_id = ${id}`,
    { failed: number, bounced: number, suppressed: number, unsubscribed: number, dead: number },
  );
  return {
    ...counts,
    refusals: seen.refusedAt.length,
    kinds: seen.kinds,
    pauseSeconds: round(pauseMs(seen.refusedAt) / 1_000, 2),
    seconds: round((performance.now() - beganAt) / 1_000, 1),
    othersPerSecond: round(seen.speed),
  };
}

export const bench: Bench = {
  description:
    'What a relay or a provider that refuses everything for a while costs readers, emails and other providers.',
  options: {
    recipients: { type: 'string', default: '50000' },
    seconds: { type: 'string', default: '60' },
    stages: { type: 'string', default: STAGES.join(',') },
  },
  async run(context) {
    const gateway = await startGateway(context);
    const stack = await context.startStack({ smtpUrl: gateway.urls });
    const stages: Record<string, Record<string, number>> = {};
    const wanted = context.text('stages').split(',');
    let before = await runCampaign(context, stack, gateway, { run: 'first', stage: 'none' });
    let dead = before['dead'] ?? 0;
    for (const stage of STAGES.filter((each) => wanted.includes(each))) {
      const run = await runCampaign(context, stack, gateway, { run: stage, stage });
      const after = await runCampaign(context, stack, gateway, { run: `after-${stage}`, stage: 'none' });
      // The machine's speed changes, so a run is compared with the runs right before and after it.
      const undisturbed = ((before['othersPerSecond'] ?? 0) + (after['othersPerSecond'] ?? 0)) / 2;
      stages[stage] = {
        ...run,
        undisturbed: round(undisturbed),
        speedPart: round((run['othersPerSecond'] ?? 0) / undisturbed, 3),
      };
      dead += (run['dead'] ?? 0) + (after['dead'] ?? 0);
      before = after;
    }
    const runs = Object.values(stages);
    const sum = (key: string): number => runs.reduce((total, run) => total + (run[key] ?? 0), 0);
    const slowest = runs.reduce((a, b) => ((a['speedPart'] ?? 0) < (b['speedPart'] ?? 0) ? a : b));
    return {
      name: 'refusals',
      figure: slowest['othersPerSecond'] ?? 0,
      unit: 'emails/s',
      limit: slowest['undisturbed'] ?? 0,
      ratio: slowest['speedPart'] ?? 0,
      recipients: context.number('recipients'),
      refusedSeconds: context.number('seconds'),
      unsubscribed: sum('unsubscribed'),
      /** Suppressions beyond those of dead addresses. */
      suppressed: (before['suppressed'] ?? 0) - dead,
      failed: sum('failed'),
      hardBouncesMissed: sum('dead') - sum('bounced'),
      pauseSecondsMax: Math.max(...runs.map((run) => run['pauseSeconds'] ?? 0)),
      stages,
    };
  },
};
