import { validate as isUuid } from 'uuid';
import type { Em } from '../shared/database/sql.ts';
import { findProject } from '../shared/domain/projects/projects.ts';
import { AppError } from '../shared/pure/app-error.ts';
import type { CliContext } from './context.ts';

/** Checks an id from the command line. @throws AppError RESOURCE_NOT_FOUND with `message` when it is not a UUID */
export function parseId(text: string, message: string, suggestion = 'Ids are UUIDs'): string {
  if (isUuid(text)) return text.toLowerCase();
  throw new AppError('RESOURCE_NOT_FOUND', { message, suggestion });
}

/** Checks a project id from the command line. @throws AppError RESOURCE_NOT_FOUND when it is not a UUID */
export function parseProjectId(text: string): string {
  return parseId(text, 'Project not found', 'Ids are UUIDs; `everpost project list` shows them');
}

/** Runs `work` for a project that exists. @throws AppError RESOURCE_NOT_FOUND */
export function inProject<T>(
  context: CliContext,
  id: string,
  work: (em: Em, projectId: string) => Promise<T>,
): Promise<T> {
  return context.withDatabase(async (em) => work(em, (await findProject(em, parseProjectId(id))).id));
}
