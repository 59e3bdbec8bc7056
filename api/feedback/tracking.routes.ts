import type { Express, Request, Response } from 'express';
import { AppError } from '../../shared/pure/app-error.ts';
import type { LinkSigner } from '../../shared/platform/links.ts';
import type { ApiDeps } from '../http/context.ts';
import { spareRequest } from '../http/strangers.ts';
import { isMachineRequest } from './machine-request.ts';
import { createEngagementLimit } from './engagement-limit.ts';

/** A transparent picture of one pixel. */
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
/** A reader waits at most this long for our bookkeeping; the engagement is recorded all the same. */
const PATIENCE_MS = 500;

function notFound(): AppError {
  return new AppError('RESOURCE_NOT_FOUND', { message: 'This link was not issued by this server' });
}

/** Tells every cache on the way that the next request is another event. */
function forbidCaching(res: Response): void {
  res.setHeader('Cache-Control', 'no-store, private, max-age=0');
  res.setHeader('X-Robots-Tag', 'noindex, nofollow');
}

/**
 * `GET /t/o/<token>.gif` counts an open, `GET /t/c/<token>` a click. The answer follows the commit, which takes a moment:
 * a crash loses no engagement that was answered. While PostgreSQL is away the answer does not wait. A client that asks for the
 * same link again and again still gets the answer but is no longer counted.
 */
export function mountTracking(app: Express, deps: ApiDeps, links: LinkSigner): void {
  const engagements = createEngagementLimit();

  async function count(req: Request, engagement: { emailId: string; url: string | null }): Promise<void> {
    spareRequest(req, 'token');
    if (isMachineRequest(req, engagement.url === null ? 'open' : 'click')) return;
    if (!engagements.take(req.socket.remoteAddress ?? '', engagement.emailId)) return;
    const taken = deps.engagements.add(engagement);
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, PATIENCE_MS);
    });
    await Promise.race([taken, patience]);
    clearTimeout(timer);
  }

  app.get('/t/o/:image', async (req, res) => {
    const { image } = req.params;
    const emailId = image.endsWith('.gif') ? links.readOpenToken(image.slice(0, -'.gif'.length)) : undefined;
    if (emailId === undefined) throw notFound();
    await count(req, { emailId, url: null });
    forbidCaching(res);
    // The image stands in pages of other origins: those of web mail.
    res.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
    res.setHeader('Content-Type', 'image/gif');
    res.end(PIXEL);
  });

  app.get('/t/c/:token', async (req, res) => {
    const click = links.readClickToken(req.params.token);
    if (!click) throw notFound();
    await count(req, click);
    forbidCaching(res);
    res.statusCode = 302;
    res.setHeader('Location', click.url);
    res.end();
  });
}
