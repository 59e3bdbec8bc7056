import { z } from 'zod';
import { AppError } from '../../shared/pure/app-error.ts';
import { createKey, endKey, findKey, listKeys, updateKey } from '../../shared/domain/projects/keys.ts';
import { created, endpointsOf, noContent, ok, type Endpoint } from '../http/endpoint.ts';
import { createdKeySchema, createKeyBody, keySchema, keyView, updateKeyBody } from './keys.schemas.ts';

const endpoint = endpointsOf('Keys', 'RESOURCE_NOT_FOUND');

const list = endpoint('listKeys', 'GET /keys', {
  roles: ['read'],
  summary: 'List the keys of the project, oldest first',
  replies: { 200: { description: 'All keys, expired ones too', schema: z.array(keySchema) } },
  handle: async ({ em, project, key }) => ok((await listKeys(em, project.id)).map((each) => keyView(each, key.id))),
});

const create = endpoint('createKey', 'POST /keys', {
  roles: [],
  summary: 'Create a key',
  description:
    'The answer shows the key once; only its hash is stored. Several keys with the same role may work at a time, so a key can be replaced without an interruption.',
  body: createKeyBody,
  replies: { 201: { description: 'The new key', schema: createdKeySchema } },
  async handle({ em, project, key, body, deps: { config } }) {
    const { key: row, secret } = await createKey(em, project.id, body, config.KEY_MARK);
    return created({ ...keyView(row, key.id), key: secret });
  },
});

const get = endpoint('getKey', 'GET /keys/:id', {
  roles: ['read'],
  summary: 'Get a key, without the key itself',
  replies: { 200: { description: 'The key', schema: keySchema } },
  handle: async ({ em, project, key, params }) => ok(keyView(await findKey(em, project.id, params.id), key.id)),
});

const update = endpoint('updateKey', 'PATCH /keys/:id', {
  roles: [],
  summary: 'Change the name, the end or the sender domains of a key',
  description: 'A full key gets an earlier end only when another full key works as long as it would.',
  body: updateKeyBody,
  replies: { 200: { description: 'The key after the change', schema: keySchema } },
  errors: ['CONFLICT'],
  handle: async ({ em, project, key, params, body }) =>
    ok(keyView(await updateKey(em, project.id, params.id, body), key.id)),
});

const end = endpoint('endKey', 'DELETE /keys/:id', {
  roles: ['send', 'marketing', 'support', 'read'],
  summary: 'End a key: it is refused from now on, everywhere',
  description:
    'A full key ends any key, and every other key of a server ends itself. The full key that works longest cannot be ended here.',
  replies: { 204: { description: 'Ended' } },
  errors: ['CONFLICT'],
  handle({ em, project, key: { id, role }, params }) {
    if (role !== 'full' && id !== params.id) {
      throw new AppError('ROLE_REFUSED', {
        message: `A key with the role "${role}" may end itself, and no other key`,
        details: { role, roles: ['full'] },
        suggestion: 'Use a key with the role full',
      });
    }
    return noContent(endKey(em, project.id, params.id));
  },
});

export const keyEndpoints: Endpoint[] = [list, create, get, update, end];
