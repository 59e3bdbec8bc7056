import { isGrpcServiceError } from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';
import { isDatabaseUnavailable } from '../shared/database/database-errors.ts';
import { GRPC, grpcErrorOf, hasStatus } from '../shared/durable/temporal/client.ts';
import { AppError } from '../shared/pure/app-error.ts';

/** PostgreSQL's code for a table that does not exist. */
const UNDEFINED_TABLE = '42P01';
const CAUSE_DEPTH_MAX = 5;

function hasDatabaseCode(error: unknown, code: string): boolean {
  let current: unknown = error;
  for (let depth = 0; depth < CAUSE_DEPTH_MAX && typeof current === 'object' && current !== null; depth++) {
    if ('code' in current && current.code === code) return true;
    current = 'cause' in current ? current.cause : undefined;
  }
  return false;
}

/**
 * The name of a missing namespace. The SDK throws a class of its own for some calls, and the server's words for others.
 */
function missingNamespace(error: unknown): string | undefined {
  if (error instanceof NamespaceNotFoundError) return error.namespace;
  if (!isGrpcServiceError(error) || !hasStatus(error, GRPC.notFound)) return undefined;
  return /^Namespace (\S+) is not found/.exec(error.details)?.[1];
}

/** The text for an operator when a command fails: one or two plain sentences, never a stack. */
export function describeFailure(error: unknown): string {
  if (error instanceof AppError) {
    const faults = error.errors?.map(({ field, message }) => `${field}: ${message}`) ?? [];
    return [error.message, ...faults, error.suggestion].filter(Boolean).join('. ');
  }
  if (isDatabaseUnavailable(error)) {
    return 'PostgreSQL cannot be reached. Is it running, and does DATABASE_URL name it?';
  }
  if (hasDatabaseCode(error, UNDEFINED_TABLE)) {
    return 'The database has no tables of Everpost yet. Run `everpost migrate` first.';
  }
  return describeTemporalFailure(grpcErrorOf(error));
}

function describeTemporalFailure(error: unknown): string {
  const namespace = missingNamespace(error);
  if (namespace !== undefined) {
    return `Temporal: the namespace ${namespace} is not found. Run \`everpost temporal setup\` first.`;
  }
  if (hasStatus(error, GRPC.unavailable, GRPC.deadlineExceeded)) {
    return 'Temporal cannot be reached. Is it running, and does TEMPORAL_ADDRESS name it?';
  }
  if (isGrpcServiceError(error)) return `Temporal refused or did not answer: ${error.details || error.message}`;
  return error instanceof Error ? error.message : String(error);
}
