import { z } from 'zod';
import { AppError } from '../../shared/pure/app-error.ts';
import { rotateProjectKeys } from '../../shared/domain/projects/projects.ts';
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
    return ok({
      id: rotated.id,
      name: rotated.name,
      public: keys.publicKey,
      secret: keys.secretKey,
      createdAt: rotated.createdAt.toISOString(),
      updatedAt: rotated.updatedAt.toISOString(),
    });
  },
});

export const projectEndpoints: Endpoint[] = [regenerateKeys];
