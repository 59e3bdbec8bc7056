import type { Express } from 'express';
import type { Config } from '../../shared/platform/config.ts';
import { admit } from '../http/admit.ts';
import type { Authenticator } from '../http/authenticator.ts';
import { rolesOf, type Endpoint } from '../http/endpoint.ts';
import { mountRefusedMethods } from '../http/methods.ts';
import { OWN_FILES_POLICY } from '../http/page-policy.ts';
import { createFileSender, mountServedFiles } from '../http/served-files.ts';
import { readConsoleFiles } from './console-files.ts';

const POLICY = `${OWN_FILES_POLICY}; frame-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'`;
/**
 * The policy of the frame that shows the HTML of an email. Its sandbox gives it an origin of its own. It loads nothing
 * but its script, and runs nothing but that.
 */
const FRAME_POLICY = [
  'sandbox allow-scripts',
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ');
/** Addresses at which only this machine reaches the API. */
const LOCAL_HOSTS = ['localhost', '127.0.0.1'];

/**
 * Mounts `GET /console`, a page that does everything through the endpoints of this API with the secret key that the
 * user types in. Its files need no key, its settings do. The addresses of the files change with their content, so
 * browsers keep them for a year.
 */
export function mountConsole(
  app: Express,
  { TEMPORAL_UI_URL, apiUrl }: Pick<Config, 'TEMPORAL_UI_URL' | 'apiUrl'>,
  authenticator: Authenticator,
  endpoints: readonly Endpoint[],
): void {
  const consoleFiles = readConsoleFiles();
  const { files, page, frame } = consoleFiles;
  const paths = ['/console', '/console/config.json', '/console/frame', '/console/assets/:version/*file'] as const;
  const [pagePath, configPath, framePath, filePath] = paths;

  // Browsers revalidate page and frame each time, so that a deployment is seen at once.
  const send = createFileSender();
  app.get(pagePath, async (req, res) => {
    res.setHeader('Content-Security-Policy', POLICY);
    res.setHeader('Cache-Control', 'no-cache');
    await send(req, res, 'html', page);
  });
  // It tells where the Temporal UI is, which strangers need not know, and what the key may call.
  app.get(configPath, async (req, res) => {
    const { key } = await admit(
      { roles: ['send', 'marketing', 'support', 'read'], path: configPath, method: 'get' },
      req,
      res,
      authenticator,
    );
    const hasParts = LOCAL_HOSTS.includes(new URL(apiUrl).hostname);
    const operations = endpoints
      .filter((each) => rolesOf(each).includes(key.role))
      .map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    res.json({ temporalUiUrl: TEMPORAL_UI_URL ?? null, operations, ...(hasParts && { hasParts }) });
  });
  app.get(framePath, async (req, res) => {
    res.setHeader('Content-Security-Policy', FRAME_POLICY);
    // Its origin is opaque, so it has no cluster of its own.
    res.removeHeader('Origin-Agent-Cluster');
    res.setHeader('Cache-Control', 'no-cache');
    await send(req, res, 'html', frame);
  });
  mountServedFiles(app, filePath, consoleFiles, (res, file) => {
    // The frame has no origin, so its script is "from elsewhere" for it.
    if (file === files.get('frame.js')) res.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
  });
  for (const path of paths) mountRefusedMethods(app, path, [{ path, method: 'get' }]);
}
