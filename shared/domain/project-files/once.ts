import type { TransactionOptions } from '@mikro-orm/core';
import type { Em } from '../../database/sql.ts';

/** Runs work in a transaction that is never repeated, because the work reads or writes a stream. */
export async function once<Result>(
  em: Em,
  options: TransactionOptions,
  work: (tx: Em) => Promise<Result>,
): Promise<Result> {
  const tx = em.fork();
  await tx.begin(options);
  try {
    const result = await work(tx);
    await tx.commit();
    return result;
  } catch (error) {
    await tx.rollback();
    throw error;
  }
}
