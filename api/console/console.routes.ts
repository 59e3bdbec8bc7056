import type { Express, Response } from 'express';
import { AppError } from '../../shared/pure/app-error.ts';
import type { Config } from '../../shared/platform/config.ts';
import { admit } from '../http/admit.ts';
import type { Authenticator } from '../http/authenticator.ts';
import { mountRefusedMethods } from '../http/methods.ts';
import { OWN_FILES_POLICY } from '../http/page-policy.ts';
import { readConsoleFiles } from './console-files.ts';

const POLICY = `${OWN_FILES_POLICY}; require-trusted-types-for 'script'; trusted-types 'none'`;
const YEAR_SECONDS = 31_536_000;

/** Sends a file that browsers revalidate each time, so that a deployment is seen at once. */
function sendFresh(res: Response, type: string, body: Buffer | string): void {
  res.setHeader('Cache-Control', 'no-cache');
  res.type(type).send(body);
}

/**
 * Mounts `GET /console`, a page that does everything through the endpoints of this API with the secret key that the
 * user types in. Its files need no key, its settings do. The addresses of the files change with their content, so
 * browsers keep them for a year.
 */
export function mountConsole(
  app: Express,
  { TEMPORAL_UI_URL }: Pick<Config, 'TEMPORAL_UI_URL'>,
  authenticator: Authenticator,
): void {
  const { version, files, page } = readConsoleFiles();
  const paths = ['/console', '/console/config.json', '/console/assets/:version/*file'] as const;
  const [pagePath, configPath, filePath] = paths;

  app.get(pagePath, (_req, res) => {
    res.setHeader('Content-Security-Policy', POLICY);
    sendFresh(res, 'html', page);
  });
  // It tells where the Temporal UI is, which strangers need not know.
  app.get(configPath, async (req, res) => {
    await admit(
      { roles: ['send', 'marketing', 'support', 'read'], path: configPath, method: 'get' },
      req,
      res,
      authenticator,
    );
    res.json({ temporalUiUrl: TEMPORAL_UI_URL ?? null });
  });
  app.get(filePath, (req, res) => {
    const file = files.get(req.params.file.join('/'));
    if (!file) throw new AppError('RESOURCE_NOT_FOUND', { message: 'The console has no such file' });
    // During a deployment, a page from one process may ask a process of another version. That answer is not cached.
    const isOwnVersion = req.params.version === version;
    res.setHeader('Cache-Control', isOwnVersion ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-store');
    res.type(file.type).send(file.body);
  });
  for (const path of paths) mountRefusedMethods(app, path, [{ path, method: 'get' }]);
}
