import type { Em } from '../../database/sql.ts';

/** Runs work in a transaction that is never repeated, because the work reads a stream. */
export async function once<Result>(em: Em, work: (tx: Em) => Promise<Result>): Promise<Result> {
  const tx = em.fork();
  await tx.begin();
  try {
    const result = await work(tx);
    await tx.commit();
    return result;
  } catch (error) {
    await tx.rollback();
    throw error;
  }
}
