import type { Express, Request, Response } from 'express';
import { AppError } from '../../shared/pure/app-error.ts';
import { chooseLanguage, textsOf } from '../../shared/pure/languages/languages.ts';
import type { Em } from '../../shared/database/sql.ts';
import { findPublicKeyOwner, type KeyOwner } from '../../shared/domain/projects/key-usage.ts';
import { allTopics } from '../../shared/domain/topics/topics.ts';
import { appSecretsOf } from '../../shared/platform/sealed-values.ts';
import { FORM_TYPES, readFormBody } from '../feedback/form-body.ts';
import type { SubscriptionPage } from '../feedback/subscription-page.ts';
import { sendNotFound, sendPage } from '../feedback/subscription.routes.ts';
import { admit } from '../http/admit.ts';
import type { Authenticator } from '../http/authenticator.ts';
import type { ApiDeps } from '../http/context.ts';
import { parseInput } from '../http/field-errors.ts';
import { addressOfRequest } from '../http/guests.ts';
import type { Load } from '../http/load.ts';
import { assertStorable } from '../http/storable.ts';
import { formPageOf, renderSnippet, type SubscribeForm } from './form-page.ts';
import { createFormTokens } from './form-token.ts';
import { subscribeEndpoint } from './subscribe.routes.ts';
import { subscribeBody, type SubscribeBody } from './subscribe.schemas.ts';
import type { Subscriber } from './subscriber.ts';

const DATA_PREFIX = 'data.';

/** The fields of a form as the body of a request. Fields named `data.<key>` are custom data; empty ones are left out. */
function bodyOf(fields: URLSearchParams): Record<string, string | object> & { topics: string[] } {
  const filled = [...fields].filter(([, value]) => value !== '');
  const data = filled.flatMap(([name, value]): [string, string][] =>
    name.startsWith(DATA_PREFIX) ? [[name.slice(DATA_PREFIX.length), value]] : [],
  );
  const topics = fields.getAll('topics').filter((key) => key !== '');
  return { ...Object.fromEntries(filled), topics, data: Object.fromEntries(data) };
}

function keyOf(req: Request): string {
  const { key } = req.query;
  return typeof key === 'string' ? key : '';
}

function languageFor(req: Request, language: unknown, project: { brand: SubscribeForm['brand'] }) {
  return chooseLanguage({
    locale: language,
    acceptLanguage: req.get('accept-language'),
    projectLanguage: project.brand.language,
  });
}

interface FormDeps {
  authenticator: Authenticator;
  load: Load;
  subscribe: Subscriber;
}

/** What a form has that its project does not say. */
type OwnPart = Pick<SubscribeForm, 'action' | 'sent'> & { language: unknown };

/** Creates the functions that make the form of a project. They use the database in a turn of its owner. */
function createForms({ orm, config }: ApiDeps, { pageSlots }: Load) {
  const formTokens = createFormTokens(appSecretsOf(config));
  const inTurn = <T>(owner: string, work: (em: Em) => Promise<T>): Promise<T> =>
    pageSlots.run(owner, () => work(orm.em.fork()));

  async function formOf(req: Request, project: Pick<KeyOwner, 'id' | 'brand'>, own: OwnPart): Promise<SubscribeForm> {
    const all = await inTurn(project.id, (em) => allTopics(em, project.id));
    const topics = all.filter(({ visibility }) => visibility === 'public');
    return { ...own, language: languageFor(req, own.language, project), brand: project.brand, topics };
  }

  return {
    formOf,
    async pageOf(req: Request, project: Pick<KeyOwner, 'id' | 'brand'>, own: OwnPart): Promise<SubscriptionPage> {
      return formPageOf({ ...(await formOf(req, project, own)), formToken: formTokens.sign(project.id) });
    },
    /** The owner of a public key in the path; undefined for an unknown one: a 404 was answered then. */
    async ownerOf(req: Request<{ key: string }>, res: Response): Promise<KeyOwner | undefined> {
      const { key } = req.params;
      const owner = await inTurn(key, (em) => findPublicKeyOwner(em, key));
      if (!owner) sendNotFound(req, res);
      return owner;
    },
  };
}

/** Mounts the hosted form, and its HTML for the pages of others. */
function mountHostedForms(app: Express, publicUrl: string, forms: ReturnType<typeof createForms>): void {
  app.get('/subscribe-form/:key', async (req, res) => {
    const owner = await forms.ownerOf(req, res);
    if (!owner) return;
    const action = `../v1/subscribe?key=${req.params.key}`;
    sendPage(res, await forms.pageOf(req, owner, { action, language: req.query['language'] }));
  });

  app.get('/subscribe-form/:key/embed', async (req, res) => {
    const owner = await forms.ownerOf(req, res);
    if (!owner) return;
    const action = `${publicUrl}${subscribeEndpoint.path}?key=${req.params.key}`;
    const form = await forms.formOf(req, owner, { action, language: req.query['language'] });
    res.setHeader('Content-Language', form.language);
    res.type('text/plain').send(renderSnippet(form));
  });
}

/**
 * Mounts forms: `/v1/subscribe` for what browsers send without a script, a hosted form, and its HTML for other pages. A
 * browser sends no header of its own with a form, so the key is in the URL; everybody has it anyway.
 */
export function mountSubscribeForms(app: Express, deps: ApiDeps, { authenticator, load, subscribe }: FormDeps): void {
  const forms = createForms(deps, load);
  mountHostedForms(app, deps.config.publicUrl, forms);

  app.post(subscribeEndpoint.path, async (req, res, next) => {
    if (!req.is(FORM_TYPES)) {
      next();
      return;
    }
    req.headers.authorization ??= `Bearer ${keyOf(req)}`;
    const { project, isPublic } = await admit(subscribeEndpoint, req, res, authenticator);
    const body = bodyOf(await readFormBody(req, res));
    const keyKind = isPublic ? ('public' as const) : ('secret' as const);
    let read: SubscribeBody;
    try {
      assertStorable(body);
      read = parseInput(subscribeBody, body);
      const subscription = { project, keyKind, clientAddress: addressOfRequest(req), body: read };
      await load.groupedRequests.run(project.id, () => subscribe(subscription));
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'VALIDATION_ERROR') throw error;
      const action = `subscribe?key=${encodeURIComponent(keyOf(req))}`;
      const { email, topics, language } = body;
      const sent = { email: typeof email === 'string' ? email : '', topics, faults: error.errors ?? [] };
      sendPage(res, await forms.pageOf(req, project, { action, language, sent }), 422);
      return;
    }
    const { redirectUrl, email } = read;
    if (redirectUrl !== undefined) {
      res.redirect(303, redirectUrl);
      return;
    }
    const language = languageFor(req, read.language, project);
    const { thanksTitle: title, thanks: text } = textsOf(language).optIn;
    sendPage(res, { language, brand: project.brand, title, text, email, isResult: true });
  });
}
