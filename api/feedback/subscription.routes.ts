import type { Express, Request, Response } from 'express';
import { chooseLanguage, textsOf, type Language } from '../../shared/pure/languages/languages.ts';
import { evidenceOf, wordingId } from '../../shared/domain/consent/records.ts';
import { findLinkContact, readChoices, type LinkContact } from '../../shared/domain/emails/link-contact.ts';
import { changeChoices, changeSubscription } from '../../shared/domain/emails/subscription-links.ts';
import type { Em } from '../../shared/database/sql.ts';
import type { LinkSigner, RecipientRef } from '../../shared/sending/compose/links.ts';
import type { ApiDeps } from '../http/context.ts';
import type { Load } from '../http/load.ts';
import { addressOfRequest } from '../http/guests.ts';
import { readFormBody } from './form-body.ts';
import { readPreferenceForm } from './preference-form.ts';
import { pageOf, type Reader, type Visit } from './reader-pages.ts';
import {
  pagePolicyOf,
  renderSubscriptionPage,
  wordingOf,
  type PageFrame,
  type SubscriptionPage,
} from './subscription-page.ts';

/** After an hour, one of the subscriptions of the last 24 hours may no longer count. */
const RETRY_AFTER_SECONDS = 3_600;

/** Sends a page for recipients. @param html the page as rendered */
export function sendHtmlPage(res: Response, page: PageFrame, html: string): void {
  res.setHeader('Content-Security-Policy', pagePolicyOf(page));
  res.setHeader('Content-Language', page.language);
  res.type('html').send(html);
}

export function sendPage(res: Response, page: SubscriptionPage, status = 200): void {
  res.status(status);
  res.setHeader('Cache-Control', 'no-store');
  sendHtmlPage(res, page, renderSubscriptionPage(page));
}

function languageFor(req: Request, contact?: LinkContact): Language {
  return chooseLanguage({
    locale: contact?.data['locale'],
    acceptLanguage: req.get('accept-language'),
    projectLanguage: contact?.brand.language,
  });
}

/** Answers a link that leads nowhere. */
export function sendNotFound(req: Request, res: Response): void {
  const language = languageFor(req);
  const { page } = textsOf(language);
  sendPage(res, { language, title: page.notFoundTitle, text: page.notFound }, 404);
}

/** Answers a link that leads nowhere any longer, because its project or its target is blocked. */
export function sendClosedLink(req: Request, res: Response): void {
  const language = languageFor(req);
  const { page } = textsOf(language);
  sendPage(res, { language, title: page.notFoundTitle, text: page.linkClosed }, 410);
}

function sendTooOften(req: Request, res: Response): void {
  const language = languageFor(req);
  const { page } = textsOf(language);
  res.setHeader('Retry-After', String(RETRY_AFTER_SECONDS));
  sendPage(res, { language, title: page.subscribe, text: page.tooOften, isResult: true }, 429);
}

/** Whether a request has a body: that of a mail program has one (RFC 8058), that of the button of the page has none. */
function hasBody(req: Request): boolean {
  return req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;
}

/**
 * Mounts the pages that the links of an email lead to. GET only shows a page, so that scanners that follow every link
 * change nothing; POST changes what the contact has chosen. The body of a POST to the unsubscribe link is ignored, so one
 * address serves the button of the page and the one-click request of a mail program (RFC 8058).
 */
export function mountSubscriptionPages(app: Express, deps: ApiDeps, links: LinkSigner, load: Load): void {
  /** Uses the database in a turn of the contact, because anybody with a link can call it without end. */
  const inTurn = <T>(contactId: string, work: (em: Em) => Promise<T>): Promise<T> =>
    load.pageSlots.run(contactId, () => work(deps.orm.em.fork()));

  /** The contact of a link. @returns undefined when the token is not valid; a 404 has been answered then */
  function ownerOf(token: string, req: Request, res: Response): RecipientRef | undefined {
    const owner = links.readRecipientToken(token);
    if (!owner) sendNotFound(req, res);
    return owner;
  }

  async function findReader(em: Em, owner: RecipientRef, req: Request): Promise<Reader | undefined> {
    const contact = await findLinkContact(em, owner);
    const language = languageFor(req, contact);
    const choices = contact && (await readChoices(em, contact, owner.emailId, language));
    return choices && { contact, choices, language };
  }

  function answer(req: Request, res: Response, reader: Reader | undefined, visit: Visit): void {
    if (reader) {
      sendPage(res, pageOf(reader, visit));
      return;
    }
    const language = languageFor(req);
    const { page: texts } = textsOf(language);
    sendPage(res, { language, title: texts.unsubscribedTitle, text: texts.isGone, isResult: visit.isResult });
  }

  for (const name of ['unsubscribe', 'subscribe', 'manage'] as const) {
    const path = `/${name}/:token`;
    app.get(path, async (req: Request<{ token: string }>, res) => {
      const { token } = req.params;
      const owner = ownerOf(token, req, res);
      if (!owner) return;
      const reader = await inTurn(owner.contactId, (em) => findReader(em, owner, req));
      answer(req, res, reader, { name, token, isResult: false, hasLeft: false });
    });

    app.post(path, async (req: Request<{ token: string }>, res) => {
      const { token } = req.params;
      const owner = ownerOf(token, req, res);
      if (!owner) return;
      const wishes = name === 'manage' ? readPreferenceForm(await readFormBody(req, res)) : undefined;
      const isOneClick = name === 'unsubscribe' && hasBody(req);
      const reader = await inTurn(owner.contactId, async (em) => {
        const before = await findReader(em, owner, req);
        if (!before) return undefined;
        const shown = pageOf(before, { name, token, isResult: false, hasLeft: false });
        const evidence = {
          ...evidenceOf(addressOfRequest(req), before.contact.clientAddresses),
          ...(!isOneClick && { wordingId: await wordingId(em, wordingOf(shown)) }),
        };
        const outcome = wishes
          ? await changeChoices(em, owner, wishes, 'page', evidence)
          : await changeSubscription(em, owner, name === 'subscribe', isOneClick ? 'one_click' : 'link', evidence);
        return outcome === 'too often' ? outcome : findReader(em, owner, req);
      });
      if (reader === 'too often') {
        sendTooOften(req, res);
        return;
      }
      const hasLeft = wishes ? wishes.hasLeft : name === 'unsubscribe';
      answer(req, res, reader, { name, token, isResult: true, hasLeft });
    });
  }
}
