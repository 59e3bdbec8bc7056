import type { Pool, PoolClient } from 'pg';

/** The driver's own message when no answer came in time. */
const NO_ANSWER = 'Query read timeout';

/**
 * Codes of a server that another one has replaced, or soon will: it is read-only, or shuts down. A new connection leads
 * to the right one.
 */
const REPLACED_CODES = /^(?:25006|57P..)$/;

/**
 * Whether a connection cannot be used after a statement on it failed. Without an answer the statement may still run,
 * and the next one would wait behind it. After a BEGIN or ROLLBACK that failed, nobody knows whether a transaction is
 * open. A server that was replaced would refuse the next statement, too.
 */
function isBroken(statement: unknown, error: unknown): boolean {
  if (statement === 'begin' || statement === 'rollback') return true;
  if (!(error instanceof Error)) return false;
  return error.message === NO_ANSWER || REPLACED_CODES.test(String((error as { code?: unknown }).code));
}

type Query = (...args: unknown[]) => unknown;

/** The limit of a statement that has its own. */
function answerMsOf(statement: unknown): number | undefined {
  return typeof statement === 'object' ? (statement as { answerMs?: number }).answerMs : undefined;
}

/**
 * The promise form of `query`, which takes a callback. The driver has promises and a time limit, too, and stores a function
 * for each in the object of the statement. V8 takes a function that is stored so for one that lives long, and keeps it,
 * and all the values of the statement, until it collects the old generation.
 * @param answerMs how long to wait for an answer, unless the statement says it
 */
function answered(
  query: Query,
  answerMs: number | undefined,
  onError: (statement: unknown, error: Error) => void,
): (...args: unknown[]) => Promise<unknown> {
  return (statement, ...values) =>
    new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        onError(statement, error);
        reject(error);
      };
      const waitMs = answerMsOf(statement) ?? answerMs;
      const timer = waitMs === undefined ? undefined : setTimeout(() => fail(new Error(NO_ANSWER)), waitMs).unref();
      query(statement, ...values, (error: Error | null, result: unknown) => {
        clearTimeout(timer);
        if (error) fail(error);
        else resolve(result);
      });
    });
}

/**
 * Removes connections that broke while they were borrowed from the pool, so that the pool can open others. The owner of
 * a transaction returns its connection only after COMMIT or ROLLBACK, and neither can succeed any more. Without this,
 * every transaction that an outage or a time-out interrupts would cost the pool one connection for good. A connection
 * that has not answered in time is closed, so the server ends its statement and releases its locks.
 * @param answerMs how long a connection may take to answer a statement that has no limit of its own
 */
export function releaseLostConnections(pool: Pool, answerMs?: number): void {
  const borrowed = new WeakSet<PoolClient>();

  function discard(client: PoolClient, reason: Error): void {
    if (!borrowed.has(client)) return;
    client.release(reason);
    // Its owner may still return it in the ordinary way; the pool refuses the second return.
    client.release = () => undefined;
  }

  pool.on('connect', (client) => {
    client.on('end', () => discard(client, new Error('The connection was lost')));
    const query = client.query.bind(client) as Query;
    client.query = answered(query, answerMs, (statement, error) => {
      if (isBroken(statement, error)) discard(client, new Error('The connection cannot be used any more'));
    }) as PoolClient['query'];
  });
  pool.on('acquire', (client) => borrowed.add(client));
  pool.on('release', (_error, client) => borrowed.delete(client));
}
