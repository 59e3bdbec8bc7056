import { availableParallelism } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { createFairShare, type FairShare } from './fair-share.ts';

const MEGABYTE = 1024 * 1024;
/** A project may have one request of the largest kind under way: 40 MB of attachments are some 60 MB of base64. */
const OCTETS_PER_PROJECT = 64 * MEGABYTE;
const OCTETS_TOTAL_MAX = 512 * MEGABYTE;
/** Part of the heap that bodies and answers may fill. */
const OCTETS_PART_OF_HEAP = 0.5;

const WAITING = { waitingPerOwner: 250, waitingTotal: 2_500, waitMs: 10_000 };
/** The part of the connections to PostgreSQL that one project may use at a time. */
const SLOTS_PART_OF_PROJECT = 0.75;
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
  /** Requests that use PostgreSQL: one for each connection. */
  slots: FairShare;
  /** Requests whose group uses PostgreSQL for all of them. */
  groupedPlaces: FairShare;
  /** Requests for the pages behind links, which need no key. */
  pageSlots: FairShare;
  /** Requests that read much. They take this in addition to their slot, so other requests and projects go on. */
  heavySlots: FairShare;
  /** Requests that wait for other servers. */
  remoteSlots: FairShare;
  /** Large bodies from the first octet on, and large answers until they have been read. */
  octets: FairShare;
}

/** How many heavy reads of one project may be under way. A read uses one core. */
function heavyPerProject(poolSize: number): number {
  const parts = [availableParallelism() * CORES_PART_OF_HEAVY_PROJECT, poolSize * SLOTS_PART_OF_HEAVY_PROJECT];
  return Math.max(1, Math.floor(Math.min(...parts)));
}

/** @param poolSize connections to PostgreSQL */
export function createLoad(poolSize: number): Load {
  const heapBytes = getHeapStatistics().heap_size_limit;
  const octetsTotal = Math.min(OCTETS_TOTAL_MAX, Math.max(2 * OCTETS_PER_PROJECT, OCTETS_PART_OF_HEAP * heapBytes));
  const slotsPerProject = Math.max(1, Math.floor(poolSize * SLOTS_PART_OF_PROJECT));
  return {
    slots: createFairShare({ ...WAITING, total: poolSize, perOwner: slotsPerProject }),
    groupedPlaces: createFairShare({
      // The number that could be under way and waiting one by one. They wait in their groups, so none waits for a place.
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
