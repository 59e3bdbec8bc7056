import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** Clock ticks a second in /proc, which Linux fixes for programs. */
const TICKS_PER_SECOND = 100;

/** Reads what processes used from /proc; elsewhere than on Linux everything is NaN. */
export interface ProcessMeter {
  /** CPU time of a process and all its descendants, those that have ended included, in milliseconds. */
  cpuMs: (pid: number) => number;
  /** Largest resident memory of one process since it started or since `resetPeak`, in MB (2^20 bytes). */
  peakMemoryMb: (pid: number) => number;
  /** Begins a new measurement of the peak; where the kernel does not offer it, the old one goes on. */
  resetPeak: (pid: number) => void;
}

interface ProcessTimes {
  parent: number;
  /** Its own and that of children it has collected, in ticks. */
  ticks: number;
}

function readTimes(pid: number | string): ProcessTimes | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in parentheses may hold spaces; the numbered fields follow the last one. Field 3 comes first here.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [, parent = 0] = fields;
    return { parent, ticks: fields.slice(11, 15).reduce((sum, value) => sum + value, 0) };
  } catch {
    return undefined;
  }
}

function readAllTimes(): Map<number, ProcessTimes> {
  const all = new Map<number, ProcessTimes>();
  for (const name of readdirSync('/proc')) {
    const times = /^\d+$/.test(name) ? readTimes(name) : undefined;
    if (times) all.set(Number(name), times);
  }
  return all;
}

/** Creates a meter. It keeps nothing between calls. */
export function createProcessMeter(): ProcessMeter {
  return {
    cpuMs(pid) {
      if (process.platform !== 'linux') return Number.NaN;
      const all = readAllTimes();
      const ticksOf = (id: number): number => {
        const own = all.get(id)?.ticks ?? 0;
        return [...all].reduce((sum, [child, times]) => (times.parent === id ? sum + ticksOf(child) : sum), own);
      };
      return (ticksOf(pid) * 1000) / TICKS_PER_SECOND;
    },
    peakMemoryMb(pid) {
      try {
        const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
        return Number(kilobytes) / 1024;
      } catch {
        return Number.NaN;
      }
    },
    resetPeak(pid) {
      try {
        writeFileSync(`/proc/${pid}/clear_refs`, '5');
      } catch {
        // Not offered here.
      }
    },
  };
}
