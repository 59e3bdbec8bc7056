import { inspectTemporal, type TemporalState } from '../../shared/dispatch/temporal-inspection.ts';
import type { TemporalConnectOptions } from '../../shared/dispatch/temporal.ts';
import { redactText } from '../../shared/pure/redact.ts';
import { fail, ok, warn, type Finding, type Probe } from './finding.ts';

const AREA = 'Temporal';
const ANSWER_MS = 5_000;
const SET_UP = 'Run `everpost temporal setup`.';
/** The oldest version that was tried; older ones may lack priorities of task queues. */
const VERSION_MIN = [1, 29] as const;

function versionFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  // Temporal Cloud reports no version that could be compared.
  const isOld =
    /^\d+\.\d+/.test(version) && (major < VERSION_MIN[0] || (major === VERSION_MIN[0] && minor < VERSION_MIN[1]));
  if (!isOld) return ok(AREA, `server ${version === '' ? 'without a version' : version}`);
  return warn(
    AREA,
    `server ${version} is older than those that Everpost is tried with`,
    `Update the server to ${VERSION_MIN.join('.')} or newer.`,
  );
}

function findingsOf(state: TemporalState, namespace: string): Finding[] {
  const findings = [versionFinding(state.serverVersion)];
  if (!state.hasNamespace) return [...findings, fail(AREA, `there is no namespace ${namespace}`, SET_UP)];
  findings.push(ok(AREA, `namespace ${namespace}`));
  const { missingSearchAttributes, missingSchedules, pausedSchedules, unservedQueues } = state;
  findings.push(
    missingSearchAttributes.length === 0
      ? ok(AREA, 'all search attributes are there')
      : fail(AREA, `search attributes are missing: ${missingSearchAttributes.join(', ')}`, SET_UP),
    missingSchedules.length === 0
      ? ok(AREA, 'all schedules are there')
      : warn(AREA, `schedules are missing: ${missingSchedules.join(', ')}`, SET_UP),
  );
  if (pausedSchedules.length > 0) {
    findings.push(warn(AREA, `schedules are paused: ${pausedSchedules.join(', ')}`, 'Resume them in the Temporal UI.'));
  }
  findings.push(
    unservedQueues.length === 0
      ? ok('workers', 'every task queue is polled')
      : warn(
          'workers',
          `no worker polls ${unservedQueues.join(', ')}`,
          'Start a worker; WORKER_TASK_QUEUES says which queues it serves.',
        ),
  );
  return findings;
}

/** Whether Temporal answers, and has the namespace with what Everpost needs; whether workers poll its queues. */
export function temporalProbe(options: TemporalConnectOptions): Probe {
  const address = options.connectionOptions.address ?? 'localhost:7233';
  return {
    area: AREA,
    async run() {
      try {
        return findingsOf(await inspectTemporal(options, ANSWER_MS), options.namespace);
      } catch (error) {
        const words = error instanceof Error ? redactText(error.message) : '';
        return [
          fail(
            AREA,
            `${address} does not answer as it should: ${words}`,
            'Check that it runs, and check TEMPORAL_ADDRESS and TEMPORAL_API_KEY.',
          ),
        ];
      }
    },
  };
}
