import { availableParallelism } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { AppError } from '../../shared/pure/app-error.ts';
import { LIMITS } from '../../shared/pure/limits.ts';
import { Share } from '../../shared/platform/share.ts';

const MEGABYTE = 1024 * 1024;
/** A project may have one request of the largest kind under way: 40 MB of attachments are some 60 MB of base64. */
const OCTETS_PER_PROJECT = 64 * MEGABYTE;
const OCTETS_TOTAL_MAX = 512 * MEGABYTE;
/** The part of the heap that bodies and answers may fill. */
const OCTETS_PART_OF_HEAP = 0.5;

const RETRY_AFTER_SECONDS = 2;

/** The error of a request that waited too long, or that may not wait because too many do. */
function refusal(isOwn: boolean): AppError {
  if (!isOwn) return new AppError('SERVICE_UNAVAILABLE');
  return new AppError('RATE_LIMIT_EXCEEDED', {
    message: 'This project has too many requests in progress',
    details: { retryAfter: RETRY_AFTER_SECONDS },
    suggestion: 'Wait for answers before sending more requests',
  });
}

function tooManyExports(isOwn: boolean): AppError {
  if (!isOwn) return new AppError('SERVICE_UNAVAILABLE');
  return new AppError('RATE_LIMIT_EXCEEDED', {
    message: `This project has ${LIMITS.exportsPerProject} exports in progress`,
    details: { retryAfter: RETRY_AFTER_SECONDS },
    suggestion: 'Wait for the end of one before you begin another',
  });
}

const WAITING = { waiting: { total: 2_500, perOwner: 250 }, waitMs: 10_000, refusal };
/** The part of the connections to PostgreSQL that one project may use at a time. */
const SLOTS_PART_OF_PROJECT = 0.75;
/** The part that the pages behind links may use. */
const SLOTS_PART_OF_PAGES = 0.25;
const REMOTE_SLOTS = { total: 400, perOwner: 50 };
/**
 * The part of the connections that heavy reads may use. Those of one project use at most half of the cores, because
 * PostgreSQL often runs on the same machine, and at most a quarter of the connections.
 */
const SLOTS_PART_OF_HEAVY = 0.6;
const CORES_PART_OF_HEAVY_PROJECT = 0.5;
const SLOTS_PART_OF_HEAVY_PROJECT = 0.25;
/** Few may wait, because each request before them may take long. */
const HEAVY_WAITING = { ...WAITING, waiting: { total: 2_500, perOwner: 20 } };

/** How many heavy reads of one project may run at a time. A read uses one core. */
function heavyPerProject(poolSize: number): number {
  const parts = [availableParallelism() * CORES_PART_OF_HEAVY_PROJECT, poolSize * SLOTS_PART_OF_HEAVY_PROJECT];
  return Math.max(1, Math.floor(Math.min(...parts)));
}

/** Creates the shared resources of a process. @param poolSize the number of its connections to PostgreSQL */
export function createLoad(poolSize: number) {
  const heapBytes = getHeapStatistics().heap_size_limit;
  const octetsTotal = Math.min(OCTETS_TOTAL_MAX, Math.max(2 * OCTETS_PER_PROJECT, OCTETS_PART_OF_HEAP * heapBytes));
  const slotsPerProject = Math.max(1, Math.floor(poolSize * SLOTS_PART_OF_PROJECT));
  return {
    /** Requests that use PostgreSQL: one slot for each connection. */
    slots: new Share({ ...WAITING, total: poolSize, perOwner: slotsPerProject }),
    /**
     * Requests that share statements with a group: as many as could run and wait alone. They wait in their groups, and a
     * group takes a turn in `slots`.
     */
    groupedRequests: new Share({
      refusal,
      waiting: { total: 0, perOwner: 0 },
      total: poolSize + WAITING.waiting.total,
      perOwner: slotsPerProject + WAITING.waiting.perOwner,
    }),
    /** Requests for the pages behind links, which need no key. */
    pageSlots: new Share({
      ...WAITING,
      total: Math.max(1, Math.floor(poolSize * SLOTS_PART_OF_PAGES)),
      perOwner: 1,
    }),
    /** Heavy reads. They take one of these in addition to their slot, so that they leave slots to other requests. */
    heavySlots: new Share({
      ...HEAVY_WAITING,
      total: Math.max(1, Math.floor(poolSize * SLOTS_PART_OF_HEAVY)),
      perOwner: heavyPerProject(poolSize),
    }),
    /** Exports, from the first octet to the last: a reader may take hours. */
    exports: new Share({
      refusal: tooManyExports,
      waiting: { total: 0, perOwner: 0 },
      total: LIMITS.exports,
      perOwner: LIMITS.exportsPerProject,
    }),
    /** Requests that wait for other servers. */
    remoteSlots: new Share({ ...WAITING, ...REMOTE_SLOTS }),
    /** The octets of large bodies from the first octet on, and of large answers until they have been read. */
    octets: new Share({ ...WAITING, total: octetsTotal, perOwner: OCTETS_PER_PROJECT }),
  };
}

/** The resources that requests compete for, shared fairly by project, or by contact. */
export type Load = ReturnType<typeof createLoad>;
