import type { Express, Request, Response } from 'express';
import { AppError } from '../../shared/pure/app-error.ts';
import { readClosedLinks } from '../../shared/domain/engagement/blocked-links.ts';
import type { LinkSigner } from '../../shared/sending/compose/links.ts';
import { createGuests } from '../../shared/platform/guests.ts';
import type { ApiDeps } from '../http/context.ts';
import { clientOfRequest } from '../http/guests.ts';
import { judgeRequest } from '../../shared/pure/engagement/machine-judge.ts';
import { factsOf, userAgentOf } from './machine-request.ts';
import { createVisits, type Visit } from './visits.ts';
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

/** Waits until an engagement is recorded, but not long. */
async function recorded(ended: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const waitIsOver = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, RECORDING_WAIT_MS);
  });
  await Promise.race([ended, waitIsOver]);
  clearTimeout(timer);
}

/**
 * Mounts `GET /t/o/<token>.gif`, which counts an open, `GET /t/c/<token>`, which counts a click, and `GET /t/h/<token>`,
 * the link that no person sees. The answer waits for the commit, so that a crash loses no engagement that was answered,
 * but not while PostgreSQL is unavailable. A client that asks for the same link again and again still gets the answer
 * but is no longer counted.
 */
export function mountTracking(app: Express, deps: ApiDeps, links: LinkSigner): void {
  const engagements = createGuests(ENGAGEMENTS);
  const isClosed = createClosedLinks(() => readClosedLinks(deps.orm.em.fork()), deps.logger);
  const visits = createVisits();

  /** The visit that a request belongs to; undefined when its client has asked for too much. */
  function visitOf(req: Request, emailId: string): Visit | undefined {
    const client = clientOfRequest(req) ?? '';
    return engagements.spend(`${client} ${emailId}`, 1)
      ? visits.of(`${client} ${userAgentOf(req)}`, emailId)
      : undefined;
  }

  async function count(req: Request, engagement: { emailId: string; url: string | null }): Promise<void> {
    const request = factsOf(req, clientOfRequest(req) ?? '', engagement.url === null ? 'open' : 'click');
    if (judgeRequest(request)?.isIgnored) return;
    const visit = visitOf(req, engagement.emailId);
    if (!visit) return;
    if (engagement.url !== null) visits.follow(visit, engagement.url);
    await recorded(deps.engagements.add({ ...engagement, by: { request, visit } }));
  }

  app.get('/t/h/:token', async (req, res) => {
    const emailId = links.readHiddenToken(req.params.token);
    if (emailId === undefined) throw notFound();
    const visit = visitOf(req, emailId);
    if (visit) {
      visit.machine = 'hidden_link';
      await recorded(deps.engagements.revise(visit));
    }
    forbidCaching(res);
    res.statusCode = 204;
    res.end();
  });

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
