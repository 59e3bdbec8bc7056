import { availableParallelism } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { createFairShare, type FairShare } from './fair-share.ts';

const MEGABYTE = 1024 * 1024;
/** A project may have one request of the largest kind under way: 40 MB of attachments are some 60 MB of base64. */
const OCTETS_PER_PROJECT = 64 * MEGABYTE;
const OCTETS_TOTAL_MAX = 512 * MEGABYTE;
/** The part of the heap that bodies and answers may fill. */
const OCTETS_PART_OF_HEAP = 0.5;

const WAITING = { waitingPerOwner: 250, waitingTotal: 2_500, waitMs: 10_000 };
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
const HEAVY_WAITING = { ...WAITING, waitingPerOwner: 20 };

/** The resources that requests compete for, shared fairly by project, or by contact. */
export interface Load {
  /** Requests that use PostgreSQL: one slot for each connection. */
  slots: FairShare;
  /** Requests that share statements with their group. The group takes a turn in `slots`. */
  groupedSlots: FairShare;
  /** Requests for the pages behind links, which need no key. */
  pageSlots: FairShare;
  /** Heavy reads. They take one of these in addition to their slot, so that they leave slots to other requests. */
  heavySlots: FairShare;
  /** Requests that wait for other servers. */
  remoteSlots: FairShare;
  /** The octets of large bodies from the first octet on, and of large answers until they have been read. */
  octets: FairShare;
}

/** How many heavy reads of one project may run at a time. A read uses one core. */
function heavyPerProject(poolSize: number): number {
  const parts = [availableParallelism() * CORES_PART_OF_HEAVY_PROJECT, poolSize * SLOTS_PART_OF_HEAVY_PROJECT];
  return Math.max(1, Math.floor(Math.min(...parts)));
}

/** Creates the shared resources of a process. @param poolSize the number of its connections to PostgreSQL */
export function createLoad(poolSize: number): Load {
  const heapBytes = getHeapStatistics().heap_size_limit;
  const octetsTotal = Math.min(OCTETS_TOTAL_MAX, Math.max(2 * OCTETS_PER_PROJECT, OCTETS_PART_OF_HEAP * heapBytes));
  const slotsPerProject = Math.max(1, Math.floor(poolSize * SLOTS_PART_OF_PROJECT));
  return {
    slots: createFairShare({ ...WAITING, total: poolSize, perOwner: slotsPerProject }),
    groupedSlots: createFairShare({
      // As many as could run and wait if they were not grouped. They wait in their groups, so none waits for a slot.
      total: poolSize + WAITING.waitingTotal,
      perOwner: slotsPerProject + WAITING.waitingPerOwner,
      waitingPerOwner: 0,
      waitingTotal: 0,
      waitMs: 0,
    }),
    pageSlots: createFairShare({
      ...WAITING,
      total: Math.max(1, Math.floor(poolSize * SLOTS_PART_OF_PAGES)),
      perOwner: 1,
    }),
    heavySlots: createFairShare({
      ...HEAVY_WAITING,
      total: Math.max(1, Math.floor(poolSize * SLOTS_PART_OF_HEAVY)),
      perOwner: heavyPerProject(poolSize),
    }),
    remoteSlots: createFairShare({ ...WAITING, ...REMOTE_SLOTS }),
    octets: createFairShare({ ...WAITING, total: octetsTotal, perOwner: OCTETS_PER_PROJECT }),
  };
}
