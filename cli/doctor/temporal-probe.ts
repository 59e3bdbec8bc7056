import { inspectTemporal, type TemporalState } from '../temporal/inspection.ts';
import { SCHEDULES } from '../temporal/schedules.ts';
import { addressOf, type TemporalConnectOptions } from '../../shared/durable/temporal/client.ts';
import { redactText } from '../../shared/pure/redact.ts';
import type { KnownNamespace } from '../../shared/domain/lifecycle/known-namespace.ts';
import { findingsAbout, type Finding, type Probe } from './finding.ts';

const AREA = 'Temporal';
const { ok, warn, fail } = findingsAbout(AREA);
const ANSWER_MS = 5_000;
const SCHEDULE_IDS = SCHEDULES.map(({ scheduleId }) => scheduleId);
const SET_UP = 'Run `everpost temporal setup`.';
/** The oldest version that was tried; older ones may lack priorities of task queues. */
const VERSION_MIN = [1, 29] as const;

function versionFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  // Temporal Cloud reports no version that could be compared.
  const isOld =
    /^\d+\.\d+/.test(version) && (major < VERSION_MIN[0] || (major === VERSION_MIN[0] && minor < VERSION_MIN[1]));
  if (!isOld) return ok(`server ${version === '' ? 'without a version' : version}`);
  return warn(
    `server ${version} is older than those that Everpost is tried with`,
    `Update the server to ${VERSION_MIN.join('.')} or newer.`,
  );
}

/** @param known the namespace that works on the database, if that is known */
function findingsOf(state: TemporalState, namespace: string, known: KnownNamespace | undefined): Finding[] {
  const findings = [versionFinding(state.serverVersion)];
  if (state.namespaceId === undefined) return [...findings, fail(`there is no namespace ${namespace}`, SET_UP)];
  findings.push(
    known && known.id !== state.namespaceId
      ? fail(
          `namespace ${namespace} (id ${state.namespaceId}) is not the one that the database works with: ` +
            `${known.name} at ${known.address} (id ${known.id})`,
          'Name that one, or see "Another Temporal namespace" in docs/operations.md.',
        )
      : ok(`namespace ${namespace}`),
  );
  const { missingSearchAttributes, missingSchedules, pausedSchedules, unservedQueues } = state;
  findings.push(
    missingSearchAttributes.length === 0
      ? ok('all search attributes are there')
      : fail(`search attributes are missing: ${missingSearchAttributes.join(', ')}`, SET_UP),
    missingSchedules.length === 0
      ? ok('all schedules are there')
      : warn(`schedules are missing: ${missingSchedules.join(', ')}`, SET_UP),
  );
  if (pausedSchedules.length > 0) {
    findings.push(warn(`schedules are paused: ${pausedSchedules.join(', ')}`, 'Resume them in the Temporal UI.'));
  }
  findings.push(
    unservedQueues.length === 0
      ? findingsAbout('workers').ok('every task queue is polled')
      : findingsAbout('workers').warn(
          `no worker polls ${unservedQueues.join(', ')}`,
          'Start a worker; WORKER_TASK_QUEUES says which queues it serves.',
        ),
  );
  return findings;
}

/** Whether Temporal answers, and has the namespace of the database with what Everpost needs; whether workers poll its queues. */
export function temporalProbe(
  options: TemporalConnectOptions,
  findKnown: () => Promise<KnownNamespace | undefined>,
): Probe {
  const address = addressOf(options);
  return {
    area: AREA,
    async run() {
      try {
        const state = await inspectTemporal(options, SCHEDULE_IDS, ANSWER_MS);
        // The probe of the database reports that it cannot be asked.
        return findingsOf(state, options.namespace, await findKnown().catch(() => undefined));
      } catch (error) {
        const words = error instanceof Error ? redactText(error.message) : '';
        return [
          fail(
            `${address} does not answer as it should: ${words}`,
            'Check that it runs, and check TEMPORAL_ADDRESS and TEMPORAL_API_KEY.',
          ),
        ];
      }
    },
  };
}
