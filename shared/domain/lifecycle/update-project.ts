import { cancelActiveExecutions } from '../automations/execution-jobs.ts';
import { assertDoubleOptIn } from '../opt-ins/confirmation-mail.ts';
import { wakeHeldMail } from '../emails/held-mail.ts';
import { restartScheduled } from '../emails/scheduled-emails.ts';
import { inTransaction, query, sql, type Em } from '../../database/sql.ts';
import { findProject, type ProjectSettings } from '../projects/projects.ts';
import type { Project } from '../projects/project.entity.ts';

/**
 * Changes the given settings and leaves the others. Disabling a project cancels its active executions.
 * Scheduled emails of one that is enabled wait for their moment again. Mail that the former rules, pools or speed kept
 * back is tried again.
 * @throws AppError VALIDATION_ERROR for a sender or a template that no confirmation can be sent with
 */
export async function updateProject(em: Em, projectId: string, settings: ProjectSettings): Promise<Project> {
  return inTransaction(em, async (tx) => {
    const project = await findProject(tx, projectId);
    const before = project.emailsPerSecond ?? null;
    if (settings.doubleOptIn) await assertDoubleOptIn(tx, projectId, settings.doubleOptIn);
    tx.assign(project, settings);
    await tx.flush();
    if (settings.disabled === true) {
      await cancelActiveExecutions(tx, { projectId, automationId: null, reason: 'project disabled' });
    }
    if (settings.disabled === false) await restartScheduled(tx, projectId);
    const hasOtherSpeed = (project.emailsPerSecond ?? null) !== before;
    // What is booked at the former speed counts no more.
    if (hasOtherSpeed) await query(tx, sql`delete from project_permit where project_id = ${projectId}`);
    if (hasOtherSpeed || settings.trafficRules !== undefined || settings.pools !== undefined) {
      await wakeHeldMail(tx, projectId);
    }
    return project;
  });
}
