import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import path from 'node:path';
import express from 'express';
import type { Request, Response } from 'express';
import { simpleParser } from 'mailparser';
import { readLook } from '../../shared/platform/look/look.ts';
import { projectRoot } from '../../shared/platform/paths.ts';
import type { MailboxStore, MailSummary } from './mailbox-store.ts';

const pageSizeDefault = 50;
const pageSizeMax = 500;
const PAGE = path.join(projectRoot, 'local', 'mailbox', 'page');

/**
 * The content security policy of a shown message. It may open links. Only when the reader asks for its pictures it may
 * load anything, because that counts as an open.
 */
function messagePolicyOf(hasPictures: boolean): string {
  const sources = hasPictures ? 'data: http: https:' : 'data:';
  return [
    'sandbox allow-popups allow-popups-to-escape-sandbox',
    "default-src 'none'",
    `img-src ${sources}`,
    `style-src 'unsafe-inline'${hasPictures ? ' http: https:' : ''}`,
    `font-src ${sources}`,
  ].join('; ');
}

/** The web page of the mailbox and its JSON API, on 127.0.0.1. Resolves when it listens. */
export async function listenForReaders(store: MailboxStore, port: number): Promise<Server> {
  const app = express();
  app.disable('x-powered-by');
  app.use((request, response, next) => {
    // Against DNS rebinding: a web site may resolve its own name to 127.0.0.1 and read email through the visitor's
    // browser.
    if (!/^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(request.headers.host ?? '')) {
      response.status(403).json({ error: 'Only reachable as 127.0.0.1 or localhost.' });
      return;
    }
    response.set({
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-store',
    });
    next();
  });
  app.get('/health', (_request, response) => void response.json({ status: 'ok' }));
  app.get('/api/messages', (request, response) => void response.json(listMessages(store, request)));
  app.delete('/api/messages', async (_request, response) => {
    await store.clear();
    response.status(204).end();
  });
  app.get('/api/messages/:id', forMessage(store, sendDetails));
  app.get('/api/messages/:id/source', forMessage(store, sendSource));
  app.get('/api/messages/:id/html', forMessage(store, sendHtml));
  app.get('/api/messages/:id/attachments/:number', forMessage(store, sendAttachment));
  const setPagePolicy = (response: { setHeader(name: string, value: string): unknown }): void => {
    response.setHeader('Content-Security-Policy', "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'");
  };
  const look = readLook();
  const page = readFileSync(path.join(PAGE, 'index.html'), 'utf8').replace('<!-- look -->', () => look.head);
  app.get('/', (_request, response) => {
    setPagePolicy(response);
    response.type('html').send(page);
  });
  app.get(`/look/${look.version}/*file`, (request, response, next) => {
    const file = look.files.get(request.params.file.join('/'));
    if (file) response.set('Cache-Control', 'max-age=31536000, immutable').type(file.type).send(file.body);
    else next();
  });
  app.use(express.static(PAGE, { index: false, setHeaders: setPagePolicy }));
  app.use((_request, response) => void response.status(404).json({ error: 'Not found.' }));

  return new Promise((resolve, reject) => {
    const server = app.listen(port, '127.0.0.1', (error?: Error) => (error ? reject(error) : resolve(server)));
  });
}

function listMessages(store: MailboxStore, request: Request): object {
  const page = positiveInteger(request.query['page'], 1, Number.MAX_SAFE_INTEGER);
  const pageSize = positiveInteger(request.query['pageSize'], pageSizeDefault, pageSizeMax);
  const search = typeof request.query['search'] === 'string' ? request.query['search'] : '';
  return { page, pageSize, ...store.list(page, pageSize, search) };
}

function positiveInteger(text: unknown, fallback: number, max: number): number {
  const value = typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : fallback;
  return Math.min(Math.max(value, 1), max);
}

type MessageHandler = (
  request: Request,
  response: Response,
  summary: MailSummary,
  source: Buffer,
) => Promise<void> | void;

function forMessage(store: MailboxStore, handle: MessageHandler) {
  return async (request: Request, response: Response): Promise<void> => {
    const summary = store.find(String(request.params['id']));
    if (!summary) {
      response.status(404).json({ error: 'There is no such message.' });
      return;
    }
    await handle(request, response, summary, await store.source(summary.id));
  };
}

async function sendDetails(_request: Request, response: Response, summary: MailSummary, source: Buffer): Promise<void> {
  const mail = await simpleParser(source);
  response.json({
    ...summary,
    headers: mail.headerLines.map(({ line }) => line),
    text: mail.text ?? null,
    html: mail.html || null,
    attachments: mail.attachments.map(({ filename, contentType, size, cid }, number) => ({
      number,
      filename: filename ?? null,
      contentType,
      bytes: size,
      cid: cid ?? null,
    })),
  });
}

function sendSource(_request: Request, response: Response, _summary: MailSummary, source: Buffer): void {
  response.type('text/plain; charset=utf-8').send(source);
}

async function sendHtml(request: Request, response: Response, _summary: MailSummary, source: Buffer): Promise<void> {
  const { html } = await simpleParser(source);
  response
    .set('Content-Security-Policy', messagePolicyOf(request.query['pictures'] === 'true'))
    .type('text/html; charset=utf-8');
  response.send(`<base target="_blank">${html || ''}`);
}

async function sendAttachment(
  request: Request,
  response: Response,
  _summary: MailSummary,
  source: Buffer,
): Promise<void> {
  const attachment = (await simpleParser(source)).attachments[Number(request.params['number'])];
  if (!attachment) {
    response.status(404).json({ error: 'There is no such attachment.' });
    return;
  }
  response.set('Content-Security-Policy', 'sandbox').attachment(attachment.filename ?? 'attachment');
  response.type(attachment.contentType).send(attachment.content);
}
