import type { Command } from 'commander';
import { badRequest } from '../shared/pure/app-error.ts';
import { dnsDomainOf } from '../shared/pure/emails/email-address.ts';
import { planOf, USUAL_PLAN, type SourceWarmUp } from '../shared/pure/warm-up.ts';
import { readShapingFile } from '../shared/platform/shaping-file.ts';
import type { Em } from '../shared/database/sql.ts';
import { listSources, noSuchSource } from '../shared/domain/emails/sources.ts';
import {
  allowedToday,
  listWarmUps,
  moveWarmUp,
  startWarmUp,
  stopWarmUp,
  usedToday,
} from '../shared/domain/emails/warm-ups.ts';
import { addCommand, type CliContext } from './context.ts';
import { formatTable } from './text-output.ts';

const longestOf = (perDay: SourceWarmUp['perDay']): number =>
  Math.max(...Object.values(perDay).map((days) => days.length));

/** The day of its plan on which a source begins at a provider; null after the last one, when it is warm. */
function firstDayOf({ step, perDay }: SourceWarmUp): number | null {
  return step < longestOf(perDay) ? step + 1 : null;
}

/** A warm-up as it is shown. Without providers, the source has sent nothing since its start. */
async function shown(em: Em, only?: string) {
  const [sources, places] = [await listSources(em), await listWarmUps(em, only === undefined ? undefined : [only])];
  if (only !== undefined && !sources.some(({ name }) => name === only)) throw noSuchSource(only);
  return sources
    .flatMap(({ warmUp, ...source }) => (warmUp && (only ?? source.name) === source.name ? { ...source, warmUp } : []))
    .map(({ name: source, pool, warmUp }) => ({
      source,
      pool,
      plan: warmUp.plan,
      firstDay: firstDayOf(warmUp),
      providers: places
        .filter((place) => place.source === source)
        .map((place) => {
          const { provider, steps, position } = place;
          const isWarm = position.step >= steps.length;
          const day = isWarm ? null : position.step + 1;
          const today = { allowed: allowedToday(place), used: usedToday(place) };
          return { provider, isWarm, day, days: steps.length, ...today, reason: position.reason };
        }),
    }));
}

function textOf(warmUps: Awaited<ReturnType<typeof shown>>): string {
  if (warmUps.length === 0) return 'No source warms up.';
  const rows = warmUps.flatMap(({ source, plan, firstDay, providers }) =>
    providers.length === 0
      ? [[source, plan, 'all', firstDay === null ? 'warm' : `begins on day ${firstDay}`]]
      : providers.map(({ provider, isWarm, day, days, allowed, used, reason }) => [
          source,
          plan,
          provider,
          isWarm ? 'warm' : `day ${day} of ${days}`,
          allowed === null ? '' : String(allowed),
          String(used),
          reason ?? '',
        ]),
  );
  return formatTable(['SOURCE', 'PLAN', 'PROVIDER', 'STATE', 'TODAY', 'SENT', 'WHY'], rows);
}

function numberOf(text: string, option: string, most: number): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= most) return number;
  throw badRequest(`${option} must be a whole number from 1 to ${most}`);
}

const DAYS_MAX = 365;
const NO_SHAPING_FILE = 'SHAPING_FILE, which holds plans of your own, is not set';

/** `warm-up start | show | skip | back | stop`. */
export function addWarmUpCommands(program: Command, context: CliContext): void {
  const warmUp = program.command('warm-up').description('What new sources may send on each of their first days');

  addCommand(warmUp, 'show [source]', 'Show where sources are in their plans, at each provider', 'reads').action(
    async (source: string | undefined, _options: object, command: Command) => {
      const warmUps = await context.withDatabase((em) => shown(em, source));
      context.answer(command, warmUps, textOf(warmUps));
    },
  );

  /** Changes a warm-up, and shows what is so now. */
  async function change(command: Command, source: string, work: (em: Em) => Promise<void>): Promise<void> {
    const warmUps = await context.withDatabase(async (em) => {
      await work(em);
      return shown(em, source);
    });
    context.answer(command, warmUps, warmUps.length === 0 ? `Source ${source} sends without a plan.` : textOf(warmUps));
  }

  addCommand(warmUp, 'start <source>', 'Let a source send no more a day than a plan says')
    .option('--plan <name>', 'a plan of SHAPING_FILE, or the usual one', USUAL_PLAN)
    .option('--day <n>', 'the day of the plan that is today, for a source that already sends', '1')
    .action(async (source: string, { plan, day }: { plan: string; day: string }, command: Command) => {
      const file = context.environment()['SHAPING_FILE'];
      const perDay = planOf(readShapingFile(file), plan, source);
      if (!perDay) throw badRequest(file ? `${file} has no plan ${plan} for source ${source}` : NO_SHAPING_FILE);
      const step = numberOf(day, '--day', longestOf(perDay)) - 1;
      await change(command, source, (em) => startWarmUp(em, source, { plan, step, perDay }));
    });

  const move = (name: string, sign: 1 | -1, text: string): void => {
    addCommand(warmUp, `${name} <source>`, text)
      .option('--days <n>', 'how many days', '1')
      .option('--provider <domain>', 'at one provider, as "warm-up show" names it')
      .action(async (source: string, { days, provider }: { days: string; provider?: string }, command: Command) => {
        const by = sign * numberOf(days, '--days', DAYS_MAX);
        await change(command, source, (em) => moveWarmUp(em, source, by, provider && dnsDomainOf(provider)));
      });
  };
  move('skip', 1, 'Take the next day of the plan today');
  move('back', -1, 'Take an earlier day of the plan today');

  addCommand(warmUp, 'stop <source>', 'Let a source send without a plan').action(
    async (source: string, _options: object, command: Command) => {
      await change(command, source, (em) => stopWarmUp(em, source));
    },
  );
}
