import type { Express, Request, Response } from 'express';
import { AppError } from '../../shared/pure/app-error.ts';
import { readClosedLinks } from '../../shared/domain/engagement/blocked-links.ts';
import type { LinkSigner } from '../../shared/sending/compose/links.ts';
import { createGuests } from '../../shared/platform/guests.ts';
import type { ApiDeps } from '../http/context.ts';
import { clientOfRequest } from '../http/guests.ts';
import { isMachineRequest } from './machine-request.ts';
import { sendClosedLink } from './subscription.routes.ts';
import { createClosedLinks } from './closed-links.ts';

/** A transparent picture of one pixel. */
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
/** The longest that an answer waits until the engagement is recorded; a slower one is recorded later. */
const RECORDING_WAIT_MS = 500;
/** Engagements of one client with one email that count. No reader and no scanner needs more. */
const ENGAGEMENTS = { units: 60, refillMs: 60_000 };

function notFound(): AppError {
  return new AppError('RESOURCE_NOT_FOUND', { message: 'This link was not issued by this server' });
}

/** Keeps caches from answering the next request, which is another engagement. */
function forbidCaching(res: Response): void {
  res.setHeader('Cache-Control', 'no-store, private, max-age=0');
  res.setHeader('X-Robots-Tag', 'noindex, nofollow');
}

/**
 * Mounts `GET /t/o/<token>.gif`, which counts an open, and `GET /t/c/<token>`, which counts a click. The answer waits
 * for the commit, so that a crash loses no engagement that was answered, but not while PostgreSQL is unavailable. A
 * client that asks for the same link again and again still gets the answer but is no longer counted.
 */
export function mountTracking(app: Express, deps: ApiDeps, links: LinkSigner): void {
  const engagements = createGuests(ENGAGEMENTS);
  const isClosed = createClosedLinks(() => readClosedLinks(deps.orm.em.fork()), deps.logger);

  async function count(req: Request, engagement: { emailId: string; url: string | null }): Promise<void> {
    if (isMachineRequest(req, engagement.url === null ? 'open' : 'click')) return;
    if (!engagements.spend(`${clientOfRequest(req) ?? ''} ${engagement.emailId}`, 1)) return;
    const recorded = deps.engagements.add(engagement);
    let timer: NodeJS.Timeout | undefined;
    const waitIsOver = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, RECORDING_WAIT_MS);
    });
    await Promise.race([recorded, waitIsOver]);
    clearTimeout(timer);
  }

  app.get('/t/o/:image', async (req, res) => {
    const { image } = req.params;
    const emailId = image.endsWith('.gif') ? links.readOpenToken(image.slice(0, -'.gif'.length)) : undefined;
    if (emailId === undefined) throw notFound();
    await count(req, { emailId, url: null });
    forbidCaching(res);
    // Web mail shows the image in pages of other origins.
    res.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
    res.setHeader('Content-Type', 'image/gif');
    res.end(PIXEL);
  });

  app.get('/t/c/:token', async (req, res) => {
    const click = links.readClickToken(req.params.token);
    if (!click) throw notFound();
    forbidCaching(res);
    if (await isClosed(click)) {
      sendClosedLink(req, res);
      return;
    }
    await count(req, { emailId: click.emailId, url: click.url });
    res.statusCode = 302;
    res.setHeader('Location', click.url);
    res.end();
  });
}
