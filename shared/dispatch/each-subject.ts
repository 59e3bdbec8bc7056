/** Temporal has taken some subjects of a batch, and refused others. */
export class PartlyRefusedError extends Error {
  readonly refusedIds: readonly string[];

  constructor(refusedIds: readonly string[], cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = 'PartlyRefusedError';
    this.refusedIds = refusedIds;
  }
}

/**
 * Hands each subject of a batch over, at the same time. One that is refused keeps no other from being handed over.
 * @throws PartlyRefusedError when some are refused, the first error when all are
 */
export async function eachSubject<T>(
  items: readonly T[],
  idOf: (item: T) => string,
  handOver: (item: T) => Promise<unknown>,
): Promise<void> {
  const results = await Promise.allSettled(items.map(handOver));
  const refused = items.filter((_, index) => results[index]?.status === 'rejected');
  const first = results.find((result) => result.status === 'rejected');
  if (!first) return;
  throw refused.length === items.length ? first.reason : new PartlyRefusedError(refused.map(idOf), first.reason);
}
