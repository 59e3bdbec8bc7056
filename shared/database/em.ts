import type { SqlEntityManager } from '@mikro-orm/postgresql';

/** A unit of work. Each request or activity call forks one and passes it on. */
export type Em = SqlEntityManager;
