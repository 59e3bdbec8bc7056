import type { Express, Request, Response } from 'express';
import { validate as isUuid } from 'uuid';
import { chooseLanguage } from '../../shared/pure/languages/languages.ts';
import { AppError } from '../../shared/pure/app-error.ts';
import {
  readArchive,
  viewArchivedCampaign,
  viewEmail,
  type ArchiveRef,
  type ViewedEmail,
} from '../../shared/domain/campaigns/archive.ts';
import type { Em } from '../../shared/database/sql.ts';
import { createEmailCompiler } from '../../shared/sending/compose/compiled-email.ts';
import type { LinkSigner } from '../../shared/sending/compose/links.ts';
import type { ApiDeps } from '../http/context.ts';
import type { Load } from '../http/load.ts';
import { archiveFeed, archivePage } from './archive-page.ts';
import { sendHtmlPage, sendNotFound } from './subscription.routes.ts';
import { contentStartOf } from '../../shared/sending/compose/preheader.ts';
import { escapeHtml } from '../../shared/pure/templates/template-language.ts';

/** For screen readers alone. */
const UNSEEN = 'position:absolute;width:1px;height:1px;margin:0;overflow:hidden;clip-path:inset(50%)';
/** What decides how browsers lay a document out. */
const DOCTYPE = /^\s*<!doctype[^>]*>/i;
const LANGUAGE = /<html\b[^>]*\slang\s*=/i;

/**
 * The HTML of an email as a page: with a language, a title, a heading and a main part, as far as the author gave none.
 * Browsers merge a second `<html>` and `<head>` into the first ones (HTML Standard, 13.2.6).
 */
function emailPage({ html, subject, language, brand }: ViewedEmail): string {
  const title = escapeHtml(subject.trim() || brand.name);
  const [doctype = ''] = DOCTYPE.exec(html) ?? [];
  const head = `<html${LANGUAGE.test(html) ? '' : ` lang="${language}"`}><title>${title}</title>`;
  const start = Math.max(doctype.length, contentStartOf(html));
  const found = html.search(/<\/body>/i);
  const end = found < start ? html.length : found;
  const heading = /<h1\b/i.test(html) ? '' : `<h1 style="${UNSEEN}">${title}</h1>`;
  const [opened, closed] = /<main\b/i.test(html) ? ['', ''] : ['<main>', '</main>'];
  return [
    doctype || '<!doctype html>',
    head,
    html.slice(doctype.length, start),
    opened,
    heading,
    html.slice(start, end),
    closed,
    html.slice(end),
  ].join('');
}

/**
 * The Content-Security-Policy of HTML that a project's author wrote. Its sandbox gives it an origin of its own, in which
 * no script runs and no form is sent, so it can do nothing with what else this host serves.
 */
const FOREIGN_HTML_POLICY = [
  'sandbox allow-popups allow-popups-to-escape-sandbox',
  "default-src 'none'",
  'img-src http: https: data:',
  'media-src http: https:',
  'font-src http: https: data:',
  "style-src 'unsafe-inline' http: https:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** How long a copy of the archive may be shown. A campaign that is taken out is gone after that. */
const ARCHIVE_MAX_AGE_SECONDS = 60;

function sendEmail(res: Response, email: ViewedEmail): void {
  res.setHeader('Content-Security-Policy', FOREIGN_HTML_POLICY);
  res.setHeader('Referrer-Policy', 'no-referrer');
  res.type('html').send(emailPage(email));
}

/** Mounts the views of emails in a browser: that of a recipient, and the archive of a project with its feed. */
export function mountEmailViews(app: Express, deps: ApiDeps, links: LinkSigner, load: Load): void {
  const viewDeps = { links, compileEmail: createEmailCompiler() };
  const inTurn = <T>(owner: string, work: (em: Em) => Promise<T>): Promise<T> =>
    load.pageSlots.run(owner, () => work(deps.orm.em.fork()));

  app.get('/view/:token', async (req, res) => {
    const owner = links.readViewToken(req.params.token);
    const email = owner && (await inTurn(owner.contactId, (em) => viewEmail(viewDeps, em, owner)));
    if (email === undefined) {
      sendNotFound(req, res);
      return;
    }
    res.setHeader('Cache-Control', 'no-store');
    res.setHeader('X-Robots-Tag', 'noindex');
    sendEmail(res, email);
  });

  /** Answers what the work makes of an archive; a 404 page when there is none. */
  async function answerFrom<T>(
    req: Request<{ publicKey: string }>,
    res: Response,
    work: (em: Em, archive: ArchiveRef) => Promise<T>,
    send: (found: T, archive: ArchiveRef) => void,
  ): Promise<void> {
    const { publicKey } = req.params;
    const archive = { publicKey, archiveUrl: `${deps.config.publicUrl}/archive/${encodeURIComponent(publicKey)}` };
    try {
      const found = await inTurn(publicKey, (em) => work(em, archive));
      res.setHeader('Cache-Control', `public, max-age=${ARCHIVE_MAX_AGE_SECONDS}`);
      send(found, archive);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'RESOURCE_NOT_FOUND') throw error;
      sendNotFound(req, res);
    }
  }

  app.get('/archive/:publicKey', async (req, res) => {
    const { after } = req.query;
    const last = typeof after === 'string' && isUuid(after) ? after : undefined;
    await answerFrom(
      req,
      res,
      (em, archive) => readArchive(viewDeps, em, archive, last),
      (found, archive) => {
        const language = chooseLanguage({
          locale: undefined,
          acceptLanguage: req.get('accept-language'),
          projectLanguage: found.brand.language,
        });
        const { page, html } = archivePage(language, archive, found);
        res.vary('Accept-Language');
        sendHtmlPage(res, page, html);
      },
    );
  });
  app.get('/archive/:publicKey/feed.xml', async (req, res) => {
    await answerFrom(
      req,
      res,
      (em, archive) => readArchive(viewDeps, em, archive),
      (found, archive) => res.type('application/atom+xml').send(archiveFeed(archive, found)),
    );
  });
  app.get('/archive/:publicKey/:campaignId', async (req, res) => {
    const { campaignId } = req.params;
    await answerFrom(
      req,
      res,
      (em, archive) => {
        if (!isUuid(campaignId)) throw new AppError('RESOURCE_NOT_FOUND');
        return viewArchivedCampaign(viewDeps, em, archive, campaignId);
      },
      (email) => sendEmail(res, email),
    );
  });
}
