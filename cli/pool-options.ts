import type { Command } from 'commander';
import { badRequest } from '../shared/pure/app-error.ts';
import { projectPoolsSchema, type ProjectPools } from '../shared/pure/traffic-rules.ts';

export interface PoolOptions {
  transactionalPool?: string;
  marketingPool?: string;
}

/** Adds the options that name the pools of a project. */
export function addPoolOptions(command: Command): Command {
  return command
    .option('--transactional-pool <name>', 'the pool of sources for transactional mail; "" = the usual one')
    .option('--marketing-pool <name>', 'the pool of sources for campaigns and MARKETING mail; "" = the usual one');
}

/** The pools of a project as text. */
export function formatPools(pools: ProjectPools | null): string {
  const named = Object.entries(pools ?? {}).map(([stream, pool]) => `${stream}: ${pool}`);
  return named.join(', ') || 'the usual ones';
}

/**
 * The pools after a command: those given, and the others as they are; undefined when none is given.
 * @throws AppError BAD_REQUEST for a name that no pool can have
 */
export function changedPools(
  { transactionalPool, marketingPool }: PoolOptions,
  before: ProjectPools | null,
): ProjectPools | null | undefined {
  if (transactionalPool === undefined && marketingPool === undefined) return undefined;
  const given = { transactional: transactionalPool, marketing: marketingPool };
  const pools = { ...before, ...Object.fromEntries(Object.entries(given).filter(([, pool]) => pool !== undefined)) };
  const stated = Object.entries(pools).filter(([, pool]) => pool !== '');
  const read = projectPoolsSchema.safeParse(Object.fromEntries(stated));
  if (!read.success) throw badRequest(`The name of a pool ${read.error.issues[0]?.message}`);
  return stated.length > 0 ? read.data : null;
}
