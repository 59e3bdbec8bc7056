import type { Command } from 'commander';
import { recordAudit, subjectIdsOf } from '../shared/domain/audit/audit.ts';
import { query, sql } from '../shared/database/sql.ts';
import { tables } from '../shared/database/tables.ts';
import { AppError } from '../shared/pure/app-error.ts';
import { isWriting, type CliContext } from './context.ts';

/** Some commands need Temporal only. */
function isDatabaseNamed(context: CliContext): boolean {
  try {
    return context.databaseUrl() !== '';
  } catch {
    return false;
  }
}

/** The words of a command: `project disable`. */
function nameOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${nameOf(parent)} ${command.name()}` : command.name();
}

function statusOf(failure: unknown): number {
  if (failure === undefined) return 200;
  return failure instanceof AppError ? failure.statusCode : 500;
}

/**
 * Records a writing command with its outcome, and the ids among its arguments and in its result. It belongs to the
 * project that one of them is, else to the whole instance.
 */
export async function recordCommand(context: CliContext, command: Command, failure?: unknown): Promise<void> {
  if (!isWriting(command) || !isDatabaseNamed(context)) return;
  const result = context.result();
  const answered = ['projectId', 'id', 'keyId'].map((name): unknown => result && Reflect.get(result, name));
  const subjectIds = subjectIdsOf([...command.args, ...answered]);
  await context.withDatabase(async (em) => {
    const projects = await query(em, sql`select id from project where id = any(${subjectIds}::uuid[]) limit 1`, {
      id: tables.project.id,
    });
    const who = { projectId: projects[0]?.id ?? null, actor: 'operator', keyId: null, keyName: null } as const;
    const done = { operation: nameOf(command), subjectIds, status: statusOf(failure), requestId: null };
    await recordAudit(em, [{ ...who, ...done }]);
  });
}
