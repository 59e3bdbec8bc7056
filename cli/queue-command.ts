import type { Command } from 'commander';
import { findProject } from '../shared/domain/projects/projects.ts';
import {
  listRelayTroubles,
  listWaiting,
  type RelayTrouble,
  type WaitingItems,
} from '../shared/domain/lifecycle/queue.ts';
import { addCommand, type CliContext } from './context.ts';
import { parseProjectId } from './project-id.ts';
import { formatTable } from './text-output.ts';

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
] as const;

/** An age in its largest unit: `3 min`. */
function formatAge(seconds: number | null): string {
  if (seconds === null) return 'not due yet';
  const [unit, size] = UNITS.find(([, each]) => seconds >= each) ?? ['s', 1];
  return `${Math.floor(seconds / size)} ${unit}`;
}

function waitingText(items: WaitingItems[]): string {
  if (items.length === 0) return 'Nothing waits.';
  const rows = items.map(({ project, kind, rows: count, oldestSeconds, reason }) => [
    project,
    kind,
    String(count),
    formatAge(oldestSeconds),
    reason ?? '',
  ]);
  return formatTable(['PROJECT', 'WHAT', 'ROWS', 'OLDEST', 'WHY'], rows);
}

function relayStateOf({ relay, provider, state: { pause, pace } }: RelayTrouble) {
  return {
    relay,
    provider,
    state: pause ? 'paused' : pace ? 'slowed' : 'watched',
    reason: pause?.reason ?? null,
    until: pause ? new Date(pause.untilMs) : null,
    emailsPerSecond: pace?.rate ?? null,
  };
}

function relaysText(relays: ReturnType<typeof relayStateOf>[]): string {
  if (relays.length === 0) return 'All relays take email for all providers.';
  const rows = relays.map(({ relay, provider, state, until, emailsPerSecond, reason }) => [
    relay,
    provider,
    state,
    until?.toISOString() ?? (emailsPerSecond === null ? '' : `${emailsPerSecond.toFixed(1)} a second`),
    reason ?? '',
  ]);
  return formatTable(['RELAY', 'PROVIDER', 'STATE', 'UNTIL', 'WORDS'], rows);
}

/** `queue`: what waits, since when and why, and what relays say. */
export function addQueueCommand(program: Command, context: CliContext): void {
  addCommand(program, 'queue', 'Show what waits, by project, kind and age, and the state of the relays', 'reads')
    .option('--project <id>', 'one project only')
    .action(async ({ project }: { project?: string }, command: Command) => {
      const answer = await context.withDatabase(async (em) => {
        const only = project === undefined ? null : (await findProject(em, parseProjectId(project))).id;
        const waiting = await listWaiting(em, only);
        return { waiting, relays: (await listRelayTroubles(em)).map(relayStateOf) };
      });
      context.answer(command, answer, `${waitingText(answer.waiting)}\n\n${relaysText(answer.relays)}`);
    });
}
