import { beforeEach, describe, expect, it } from '@jest/globals';
import { useTestDatabase } from '../../../tests/support/database.ts';
import { query } from '../../../tests/support/rows.ts';
import { sql } from '../../database/sql.ts';
import { DAY_MS, dayOf } from '../../pure/days.ts';
import { WARM_UP_LIMITS, warmUpKey } from '../../sending/permit/warm-up-allowance.ts';
import { createProject } from '../projects/projects.ts';
import { listSources, meetSources, warmsUp, warningsOfPools } from './sources.ts';
import { lendWarmUps, listWarmUps, startWarmUp } from './warm-ups.ts';

const { em } = useTestDatabase();
const rows = (statement: ReturnType<typeof sql>) => query(em(), statement);
const way = (name: string, pool = 'default') => ({ name, kind: 'relay' as const, pool, label: `${name}:25` });
const dayBefore = (days: number): string => dayOf(Date.now() - days * DAY_MS);

let projectId = '';

beforeEach(async () => {
  await rows(sql`delete from source_day`);
  await rows(sql`delete from source`);
  projectId = (await createProject(em(), 'Sends')).project.id;
});

/** A worker asks for units of source `new`, which are used. */
async function send(provider: string, wants: number) {
  const asked = { workerId: 'w', limits: WARM_UP_LIMITS, wants, wantsPerSecond: 0, wantsConnections: 0, inFlight: 0 };
  const key = warmUpKey(projectId, 'new', provider);
  const { leases, decided } = await lendWarmUps(em(), new Map([[key, { ...asked, unused: [], late: [] }]]));
  return { units: leases.get(key)?.units, decided };
}
async function answer(provider: string, day: string, offered: number, complaints = 0): Promise<void> {
  await rows(sql`
    insert into source_day (source, provider, day, offered, accepted, complaints)
    values ('new', ${provider}, ${day}, ${offered}, ${offered}, ${complaints})`);
}
async function start(perDay: Record<string, number[]>): Promise<void> {
  await meetSources(em(), [way('new')]);
  await startWarmUp(em(), 'new', { plan: 'p', step: 0, perDay });
}

describe('a day of a warm-up', () => {
  it('is judged by reports that come on later days without mail, too', async () => {
    await start({ '*': [50, 100] });
    await send('weekly.test', 50);
    await rows(sql`update warm_up set day = ${dayBefore(3)}`);
    await answer('weekly.test', dayBefore(4), 50, 10);
    await answer('weekly.test', dayBefore(3), 50);
    await answer('weekly.test', dayBefore(2), 0, 1);
    await answer('weekly.test', dayBefore(1), 0, 1);
    await answer('weekly.test', dayBefore(0), 0, 10);
    const { units, decided } = await send('weekly.test', 100);
    expect(decided).toMatchObject([{ outcome: 'repeated', reason: expect.stringContaining('4 % of the accepted') }]);
    expect(units).toBe(50);
  });
});

describe('the end of the warm-up of a source', () => {
  it('waits for a provider that began lately and has much mail', async () => {
    await start({ '*': [50, 100, 200], 'first.test': [5] });
    await send('first.test', 5);
    await send('late.test', 50);
    await send('idle.test', 3);
    await rows(sql`update warm_up set day = day - 1`);
    await answer('first.test', dayBefore(1), 5);
    await answer('late.test', dayBefore(1), 50);
    expect((await send('first.test', 5)).decided).toMatchObject([{ outcome: 'warm' }]);
    const { units, decided } = await send('late.test', 1_000);
    expect(decided).toMatchObject([{ outcome: 'next' }]);
    expect(units).toBe(100);
    expect(await listWarmUps(em())).toHaveLength(3);
  });

  it('does not wait for one with little mail', async () => {
    await start({ '*': [50, 100, 200], 'first.test': [5] });
    await send('first.test', 5);
    await send('idle.test', 3);
    await rows(sql`update warm_up set day = day - 1`);
    await answer('first.test', dayBefore(1), 5);
    expect((await send('first.test', 5)).decided).toMatchObject([{ outcome: 'warm' }, { outcome: 'finished' }]);
  });
});

describe('a source that no worker has any more', () => {
  it('decides about no pool, unless no worker has run for a while', async () => {
    await meetSources(em(), [way('new'), way('old', 'marketing')]);
    await startWarmUp(em(), 'new', { plan: 'p', step: 0, perDay: { '*': [5] } });
    const isOrdered = async () => (await rows(sql`select ${warmsUp(sql`${projectId}::uuid`)} as yes`))[0]?.['yes'];
    const warnings = () => warningsOfPools(em(), { id: projectId, pools: { marketing: 'marketing' } });
    await rows(sql`update source set seen_at = now() - interval '1 day'`);
    expect([await isOrdered(), await warnings()]).toEqual([false, []]);
    await meetSources(em(), [way('new')]);
    expect([await isOrdered(), await warnings()]).toEqual([
      true,
      [expect.stringContaining('uses pool default instead')],
    ]);
    expect(await listSources(em())).toHaveLength(2);
  });
});
