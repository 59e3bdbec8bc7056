import type { Express } from 'express';
import { readLook } from '../../shared/platform/look/look.ts';
import { mountRefusedMethods } from '../http/methods.ts';
import { mountServedFiles } from '../http/served-files.ts';

const PATH = '/look/:version/*file';

/** Mounts the style sheet, font and script of all pages at `/look/<version>/`. They need no key, and are kept for a year. */
export function mountLook(app: Express): void {
  mountServedFiles(app, PATH, readLook());
  mountRefusedMethods(app, PATH, [{ path: PATH, method: 'get' }]);
}
