import type { Express, Response } from 'express';
import type { ServedFile, ServedFiles } from '../../shared/platform/look/served-files.ts';
import { AppError } from '../../shared/pure/app-error.ts';

const YEAR_SECONDS = 31_536_000;

/** Lets browsers keep a file for a year, because its address changes with its content. */
export function keepForYear(res: Response, isOwnVersion: boolean): void {
  // During a deployment, a page from one process may ask a process of another version. That answer is not cached.
  res.setHeader('Cache-Control', isOwnVersion ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-store');
}

/**
 * Mounts files below a path that ends in `/:version/*file`. They need no key.
 * @param adorn sets further headers of a file
 */
export function mountServedFiles(
  app: Express,
  path: `${string}/:version/*file`,
  { version, files }: ServedFiles,
  adorn: (res: Response, file: ServedFile) => void = () => undefined,
): void {
  app.get(path, (req, res) => {
    const file = files.get(req.params.file.join('/'));
    if (!file) throw new AppError('RESOURCE_NOT_FOUND', { message: 'There is no such file' });
    keepForYear(res, req.params.version === version);
    adorn(res, file);
    res.type(file.type).send(file.body);
  });
}
