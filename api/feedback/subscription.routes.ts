import type { Express, Request, Response } from 'express';
import { chooseLanguage, textsOf, type Language } from '../../shared/pure/languages/languages.ts';
import {
  changeSubscription,
  findLinkContact,
  type LinkContact,
} from '../../shared/domain/emails/subscription-links.ts';
import type { Em } from '../../shared/database/em.ts';
import type { LinkSigner, RecipientRef } from '../../shared/sending/compose/links.ts';
import type { ApiDeps } from '../http/context.ts';
import type { Load } from '../http/load.ts';
import { pagePolicyOf, renderSubscriptionPage, type PageFrame, type SubscriptionPage } from './subscription-page.ts';

/** After an hour, one of the subscriptions of the last 24 hours may no longer count. */
const RETRY_AFTER_SECONDS = 3_600;

type PageName = 'unsubscribe' | 'subscribe' | 'manage';

/** Sends a page for recipients. @param html the page as rendered */
export function sendHtmlPage(res: Response, page: PageFrame, html: string): void {
  res.setHeader('Content-Security-Policy', pagePolicyOf(page));
  res.setHeader('Content-Language', page.language);
  res.type('html').send(html);
}

function sendPage(res: Response, page: SubscriptionPage, status = 200): void {
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

/** The page for a contact, before or after an action. */
function pageOf(
  name: PageName,
  token: string,
  language: Language,
  contact: LinkContact | undefined,
  isResult: boolean,
): SubscriptionPage {
  const { page: texts } = textsOf(language);
  if (!contact) return { language, title: texts.unsubscribedTitle, text: texts.isGone, isResult };
  const { brand, email, subscribed } = contact;
  const base = { language, brand, email };
  const offers = {
    unsubscribe: { path: `../unsubscribe/${token}`, label: texts.unsubscribe },
    subscribe: { path: `../subscribe/${token}`, label: texts.subscribe },
  };
  const isAlreadySo = name === (subscribed ? 'subscribe' : 'unsubscribe');
  if (isResult || name === 'manage' || isAlreadySo) {
    const stateTitle = subscribed ? texts.subscribedTitle : texts.unsubscribedTitle;
    const title = name === 'manage' ? texts.manage : stateTitle;
    const text = subscribed ? texts.isSubscribed : texts.isUnsubscribed;
    return { ...base, title, text, isResult, action: subscribed ? offers.unsubscribe : offers.subscribe };
  }
  const text = name === 'unsubscribe' ? texts.askUnsubscribe : texts.askSubscribe;
  return { ...base, title: texts[name], text, action: offers[name] };
}

/**
 * Mounts the pages that the links of an email lead to. GET only shows a page, so that scanners that follow every link
 * change nothing; POST changes the subscription. The body of a POST is ignored, so one address serves the button of the
 * page and the one-click request of a mail program (RFC 8058).
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

  for (const name of ['unsubscribe', 'subscribe', 'manage'] as const) {
    app.get(`/${name}/:token`, async (req, res) => {
      const { token } = req.params;
      const owner = ownerOf(token, req, res);
      if (!owner) return;
      const contact = await inTurn(owner.contactId, (em) => findLinkContact(em, owner));
      sendPage(res, pageOf(name, token, languageFor(req, contact), contact, false));
    });
  }

  for (const name of ['unsubscribe', 'subscribe'] as const) {
    app.post(`/${name}/:token`, async (req, res) => {
      const { token } = req.params;
      const owner = ownerOf(token, req, res);
      if (!owner) return;
      const reason = name === 'unsubscribe' && hasBody(req) ? 'one_click' : 'link';
      const contact = await inTurn(owner.contactId, (em) =>
        changeSubscription(em, owner, name === 'subscribe', reason),
      );
      if (contact === 'too often') {
        sendTooOften(req, res);
        return;
      }
      sendPage(res, pageOf(name, token, languageFor(req, contact), contact, true));
    });
  }
}
