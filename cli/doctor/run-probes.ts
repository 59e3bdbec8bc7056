import { withTimeLimit } from '../../shared/platform/time-limit.ts';
import { redactText } from '../../shared/pure/redact.ts';
import { findingsAbout, type Finding, type Probe } from './finding.ts';

export const PROBE_TIMEOUT_MS = 10_000;

async function runProbe({ area, run }: Probe, timeoutMs: number): Promise<Finding[]> {
  const ending = new AbortController();
  try {
    return await withTimeLimit(run(ending.signal), timeoutMs, () => {
      ending.abort();
      return [
        findingsAbout(area).fail(
          `no answer within ${timeoutMs / 1_000} seconds`,
          'Check that it runs and that this machine can reach it.',
        ),
      ];
    });
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    return [
      findingsAbout(area).fail(
        redactText(words),
        'This error is unexpected. Read the logs of the API and of the workers.',
      ),
    ];
  }
}

/** Runs all probes concurrently, each bounded in time. Findings keep the order of the probes. Never throws. */
export async function runProbes(probes: readonly Probe[], timeoutMs = PROBE_TIMEOUT_MS): Promise<Finding[]> {
  return (await Promise.all(probes.map((probe) => runProbe(probe, timeoutMs)))).flat();
}
