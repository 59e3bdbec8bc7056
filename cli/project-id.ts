import { validate as isUuid } from 'uuid';
import { AppError } from '../shared/pure/app-error.ts';

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
