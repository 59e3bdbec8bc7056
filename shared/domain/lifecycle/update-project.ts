import { cancelActiveExecutions } from '../automations/execution-jobs.ts';
import type { Em } from '../../database/em.ts';
import { inTransaction } from '../../database/transaction.ts';
import { findProject, type ProjectSettings } from '../projects/projects.ts';
import type { Project } from '../projects/project.entity.ts';

/** Changes the given settings and leaves the others. Disabling a project cancels its active executions. */
export async function updateProject(em: Em, projectId: string, settings: ProjectSettings): Promise<Project> {
  return inTransaction(em, async (tx) => {
    const project = await findProject(tx, projectId);
    tx.assign(project, settings);
    await tx.flush();
    if (settings.disabled === true) {
      await cancelActiveExecutions(tx, { projectId, automationId: null, reason: 'project disabled' });
    }
    return project;
  });
}
