import { validate as isUuid } from 'uuid';
import type { Em } from '../shared/domain/database/em.ts';
import { findProject } from '../shared/domain/projects/projects.ts';
import { AppError } from '../shared/pure/app-error.ts';
import type { CliContext } from './context.ts';

/** Checks an id from the command line. @throws AppError RESOURCE_NOT_FOUND with `message` if it cannot be an id */
export function parseId(text: string, message: string): string {
  if (isUuid(text)) return text.toLowerCase();
  throw new AppError('RESOURCE_NOT_FOUND', { message, suggestion: 'Ids are UUIDs' });
}

/**
 * Checks a project id from the command line.
 * @throws AppError RESOURCE_NOT_FOUND for text that cannot be an id of ours
 */
export function parseProjectId(text: string): string {
  if (isUuid(text)) return text.toLowerCase();
  throw new AppError('RESOURCE_NOT_FOUND', {
    message: 'Project not found',
    suggestion: 'Ids are UUIDs; `everpost project list` shows them',
  });
}

/** Runs `work` for a project that exists. @throws AppError RESOURCE_NOT_FOUND */
export function inProject<T>(
  context: CliContext,
  id: string,
  work: (em: Em, projectId: string) => Promise<T>,
): Promise<T> {
  return context.withDatabase(async (em) => work(em, (await findProject(em, parseProjectId(id))).id));
}
