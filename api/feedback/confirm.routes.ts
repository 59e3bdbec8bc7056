import type { Express, Request, Response } from 'express';
import { chooseLanguage, textsOf } from '../../shared/pure/languages/languages.ts';
import { escapeHtml } from '../../shared/pure/templates/template-language.ts';
import { confirmOptIn } from '../../shared/domain/opt-ins/confirm.ts';
import { isExpired, readOptIn, topicName, type OptIn } from '../../shared/domain/opt-ins/opt-in.ts';
import { askAgain } from '../../shared/domain/opt-ins/subscribe.ts';
import type { Em } from '../../shared/database/sql.ts';
import type { LinkSigner } from '../../shared/sending/compose/links.ts';
import type { ApiDeps } from '../http/context.ts';
import { addressOfRequest } from '../http/guests.ts';
import type { Load } from '../http/load.ts';
import { isolate, wordingOf, type SubscriptionPage } from './subscription-page.ts';
import { sendNotFound, sendPage } from './subscription.routes.ts';

/** The page behind the link of a confirmation: it asks, says what has become of it, or offers another link. */
function pageOf(req: Request<{ token: string }>, optIn: OptIn): SubscriptionPage {
  const { brand, email, subscribed, state, topics } = optIn;
  const language = chooseLanguage({
    locale: optIn.language ?? optIn.locale,
    acceptLanguage: req.get('accept-language'),
    projectLanguage: brand.language,
  });
  const { optIn: texts, page } = textsOf(language);
  const base = { language, brand, email };
  if (isExpired(optIn)) {
    const action = { path: `${req.params.token}/again`, label: texts.sendAgain };
    return { ...base, title: texts.expiredTitle, text: texts.expired, action };
  }
  if (state === 'confirmed') {
    const title = subscribed ? page.subscribedTitle : page.unsubscribedTitle;
    return { ...base, title, text: subscribed ? page.isSubscribed : page.isUnsubscribed, isResult: true };
  }
  const names = topics.map((topic) => `<li>${isolate(topicName(topic, language))}</li>`);
  const list = names.length > 0 ? `<ul>${names.join('')}</ul>\n` : '';
  const button = `<button type="submit">${escapeHtml(texts.confirm)}</button>`;
  return { ...base, title: texts.subject, text: texts.ask, form: `${list}<form method="post">${button}</form>` };
}

/**
 * Mounts the pages behind the links of confirmations. GET only shows a page, so that scanners that follow every link
 * confirm nobody; POST confirms.
 */
export function mountConfirmationPages(app: Express, { orm }: ApiDeps, links: LinkSigner, load: Load): void {
  /** Works on the opt-in of a link, in a turn of its own. @returns undefined when there is none; a 404 was answered */
  async function optInOf(
    req: Request<{ token: string }>,
    res: Response,
    work: (em: Em, id: string) => Promise<OptIn | undefined>,
  ): Promise<OptIn | undefined> {
    const id = links.readConfirmToken(req.params.token);
    const optIn = id === undefined ? undefined : await load.pageSlots.run(id, () => work(orm.em.fork(), id));
    if (!optIn) sendNotFound(req, res);
    return optIn;
  }

  app.get('/confirm/:token', async (req, res) => {
    const optIn = await optInOf(req, res, readOptIn);
    if (optIn) sendPage(res, pageOf(req, optIn));
  });

  app.post('/confirm/:token', async (req, res) => {
    const confirm = (em: Em, id: string) =>
      confirmOptIn(em, id, addressOfRequest(req), (asked) => wordingOf(pageOf(req, asked)));
    const optIn = await optInOf(req, res, confirm);
    if (optIn) sendPage(res, pageOf(req, optIn));
  });

  app.post('/confirm/:token/again', async (req, res) => {
    const optIn = await optInOf(req, res, (em, id) => askAgain(em, id, addressOfRequest(req)));
    if (!optIn) return;
    if (!isExpired(optIn)) {
      res.redirect(303, `../${req.params.token}`);
      return;
    }
    const { language } = pageOf(req, optIn);
    const { thanksTitle: title, thanks: text } = textsOf(language).optIn;
    sendPage(res, { language, brand: optIn.brand, email: optIn.email, title, text, isResult: true });
  });
}
