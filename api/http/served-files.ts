import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Express, Request, Response } from 'express';
import type { ServedFile, ServedFiles } from '../../shared/platform/look/served-files.ts';
import { AppError } from '../../shared/pure/app-error.ts';

const YEAR_SECONDS = 31_536_000;
const zip = promisify(gzip);

/** Sends a body with its type, compressed where the client takes that. */
export type SendFile = (req: Request, res: Response, type: string, body: Buffer | string) => Promise<void>;

/**
 * Creates a function that sends files. Each body is compressed once, and kept by itself: there are as many as files,
 * whatever addresses clients ask for. Fonts are compressed already.
 */
export function createFileSender(): SendFile {
  const zipped = new Map<Buffer | string, Promise<Buffer>>();
  return async (req, res, type, body) => {
    res.type(type);
    if (type.startsWith('font/')) {
      res.send(body);
      return;
    }
    res.vary('Accept-Encoding');
    if (!req.acceptsEncodings('gzip')) {
      res.send(body);
      return;
    }
    const small = zipped.get(body) ?? zip(body);
    zipped.set(body, small);
    res.setHeader('Content-Encoding', 'gzip');
    res.send(await small);
  };
}

/**
 * Mounts files below a path that ends in `/:version/*file`. They need no key, and browsers keep them for a year,
 * because their addresses change with their content.
 * @param adorn sets further headers of a file
 */
export function mountServedFiles(
  app: Express,
  path: `${string}/:version/*file`,
  { version, files }: ServedFiles,
  adorn: (res: Response, file: ServedFile) => void = () => undefined,
): void {
  const send = createFileSender();
  app.get(path, async (req, res) => {
    const file = files.get(req.params.file.join('/'));
    if (!file) throw new AppError('RESOURCE_NOT_FOUND', { message: 'There is no such file' });
    // During a deployment, a page from one process may ask a process of another version. That answer is not cached.
    const isOwn = req.params.version === version;
    res.setHeader('Cache-Control', isOwn ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-store');
    adorn(res, file);
    await send(req, res, file.type, file.body);
  });
}
