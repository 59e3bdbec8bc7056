import type { SqlEntityManager } from '@mikro-orm/postgresql';

/** A unit of work: forked once a request or activity call and handed on. */
export type Em = SqlEntityManager;
