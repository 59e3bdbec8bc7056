import { z } from 'zod';
import { AppError } from '../../shared/pure/app-error.ts';
import type { Project } from '../../shared/domain/projects/project.entity.ts';
import { findProject, rotateProjectKeys } from '../../shared/domain/projects/projects.ts';
import { endpoint, ok, type Endpoint } from '../http/endpoint.ts';
import { idParams } from '../http/pagination.ts';

const rotatedKeysSchema = z.object({
  id: z.uuid(),
  name: z.string(),
  public: z.string().meta({ examples: ['pk_…'] }),
  secret: z.string().meta({ examples: ['sk_…'], description: 'Shown here only' }),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

const projectSchema = rotatedKeysSchema
  .omit({ secret: true })
  .meta({ id: 'Project', description: 'The project of the key' });

function projectView({ id, name, publicKey, createdAt, updatedAt }: Project): z.infer<typeof projectSchema> {
  return { id, name, public: publicKey, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}

const list = endpoint({
  operationId: 'listProjects',
  method: 'get',
  path: '/users/@me/projects',
  tag: 'Projects',
  summary: 'The project that the key belongs to',
  key: 'secret',
  replies: { 200: { description: 'A list of one project', schema: z.array(projectSchema) } },
  async handle({ em, project }) {
    return ok([projectView(await findProject(em, project.id))]);
  },
});

const regenerateKeys = endpoint({
  operationId: 'regenerateProjectKeys',
  method: 'post',
  path: '/users/@me/projects/:id/regenerate-keys',
  tag: 'Projects',
  summary: 'Replace both keys of the project; the old ones stop working at once',
  key: 'secret',
  params: idParams,
  badIdIs: 'RESOURCE_NOT_FOUND',
  replies: { 200: { description: 'The project with its new keys', schema: rotatedKeysSchema } },
  async handle({ em, project, params }) {
    if (params.id !== project.id) throw new AppError('RESOURCE_NOT_FOUND', { message: 'Project not found' });
    const { project: rotated, keys } = await rotateProjectKeys(em, project.id);
    return ok({ ...projectView(rotated), secret: keys.secretKey });
  },
});

export const projectEndpoints: Endpoint[] = [list, regenerateKeys];
