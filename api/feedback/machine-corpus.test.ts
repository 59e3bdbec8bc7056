import { describe, expect, it } from '@jest/globals';
import ipaddr from 'ipaddr.js';
import { HOSTING_NETWORKS, SCANNER_NETWORKS } from '../../shared/pure/engagement/machine-tables.ts';
import { judge } from '../../shared/pure/engagement/machine-judge.ts';
import { clientOf } from '../../shared/platform/client-address.ts';
import { CORPUS, type CorpusCase } from '../../tests/support/machine-corpus.ts';
import { HELD_OUT } from '../../tests/support/machine-corpus-apart.ts';
import { factsOf } from './machine-request.ts';
import { createVisits } from './visits.ts';

/** Plays a case, and tells whether any of its requests is a machine's in the end. */
function isJudgedMachine(it: CorpusCase): boolean {
  let nowMs = 1_000_000;
  const handedOverAtMs = nowMs - it.after * 1_000;
  const visits = createVisits(() => nowMs);
  const headers = { 'user-agent': it.agent, ...it.headers };
  const request = factsOf({ headers, method: it.method }, clientOf(it.address), it.kind);
  const visit = visits.of('client', 'email');
  let isMachine = false;
  for (let link = 0; link < it.links; link++) {
    if (it.kind === 'click') visits.follow(visit, `https://shop.test/${it.isSameLink ? 0 : link}`);
    isMachine ||= judge(request, { ...visit, afterMs: nowMs - handedOverAtMs }) !== undefined;
    nowMs += it.gap * 1_000;
  }
  if (it.hidden) visit.machine = 'hidden_link';
  return isMachine || visit.machine !== undefined;
}

function tableOf(name: string, cases: readonly CorpusCase[]) {
  const wrong = cases.filter((each) => isJudgedMachine(each) !== each.isMachine);
  const people = cases.filter(({ isMachine }) => !isMachine);
  const takenForMachines = wrong.filter(({ isMachine }) => !isMachine);
  const percent = (count: number, of: number) => Math.round((count / of) * 1_000) / 10;
  return {
    name,
    cases: cases.length,
    rightPercent: percent(cases.length - wrong.length, cases.length),
    people: people.length,
    peopleTakenForMachinesPercent: percent(takenForMachines.length, people.length),
    wrong: wrong.map((each) => each.name),
  };
}

describe('the verdict on requests', () => {
  it.each([
    ['those with which the rules were made', CORPUS],
    ['those that were kept apart', HELD_OUT],
  ])('is right for %s: at least 95 %, and at most 1 % of people are taken for machines', (name, cases) => {
    const table = tableOf(name, cases);
    // Shown with `npm test -- machine-corpus`.
    process.stdout.write(`${JSON.stringify(table)}\n`);
    expect(table.rightPercent).toBeGreaterThanOrEqual(95);
    expect(table.peopleTakenForMachinesPercent).toBeLessThanOrEqual(1);
  });

  it('rests on networks that each say where the fact is from', () => {
    for (const { name, ranges, source } of [...SCANNER_NETWORKS, ...HOSTING_NETWORKS]) {
      expect([name, source]).toEqual([name, expect.stringContaining('https://')]);
      for (const range of ranges.split(' '))
        expect([name, range, ipaddr.isValidCIDR(range)]).toEqual([name, range, true]);
    }
  });

  it('is tried on some 200 different cases', () => {
    const all = [...CORPUS, ...HELD_OUT].map((each) => JSON.stringify(each));
    expect(new Set(all).size).toBe(all.length);
    expect(all.length).toBeGreaterThanOrEqual(200);
  });
});
