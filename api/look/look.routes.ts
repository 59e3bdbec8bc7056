import type { Express } from 'express';
import { AppError } from '../../shared/pure/app-error.ts';
import { readLook } from '../../shared/platform/look/look.ts';
import { mountRefusedMethods } from '../http/methods.ts';

const YEAR_SECONDS = 31_536_000;
const PATH = '/look/:version/*file';

/** Mounts the style sheet, font and script of all pages at `/look/<version>/`. They need no key, and are kept for a year. */
export function mountLook(app: Express): void {
  const { version, files } = readLook();
  app.get(PATH, (req, res) => {
    const file = files.get(req.params.file.join('/'));
    if (!file) throw new AppError('RESOURCE_NOT_FOUND', { message: 'There is no such file' });
    // During a deployment, a page from one process may ask a process of another version. That answer is not cached.
    const isOwnVersion = req.params.version === version;
    res.setHeader('Cache-Control', isOwnVersion ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-store');
    res.type(file.type).send(file.body);
  });
  mountRefusedMethods(app, PATH, [{ path: PATH, method: 'get' }]);
}
