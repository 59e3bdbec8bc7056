import { createHash, timingSafeEqual } from 'node:crypto';
import type { Express, Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import type { Config } from '../../shared/platform/config.ts';
import { payloadFromJson, payloadToJson } from '../../shared/platform/payload-json.ts';
import { CodecError, codecOf } from '../../shared/platform/temporal-codec.ts';
import { AppError, badRequest, validationError } from '../../shared/pure/app-error.ts';
import { CHECKS } from '../../shared/pure/schema-messages.ts';
import { fieldErrorsOf } from '../http/field-errors.ts';
import { createJsonBody } from '../http/json-body.ts';

/** A page of a history in the Temporal UI is far smaller; Temporal itself takes 4 MB a message. */
const BODY_BYTES_MAX = 4 * 1024 * 1024;
const PREFLIGHT_SECONDS = '86400';

const bodySchema = z.object({
  payloads: z
    .array(z.object({ metadata: z.record(z.string(), z.base64()).optional(), data: z.base64().optional() }))
    .max(2_000),
});

const digest = (text: string) => createHash('sha256').update(text).digest();

/** Lets the pages of the Temporal UI read the answers, and no pages of other origins. */
function allowOrigins(origins: readonly string[]): RequestHandler {
  return (req, res, next) => {
    res.setHeader('Vary', 'Origin');
    res.setHeader('Cache-Control', 'no-store');
    const { origin } = req.headers;
    if (origin !== undefined && origins.includes(origin)) {
      res.setHeader('Access-Control-Allow-Origin', origin);
      res.setHeader('Access-Control-Allow-Credentials', 'true');
    }
    next();
  };
}

/** Refuses requests without the token. @throws AppError INVALID_API_KEY */
function requireToken(token: string): RequestHandler {
  const expected = digest(token);
  return (req, _res, next) => {
    const given = /^bearer (.+)$/i.exec(req.headers.authorization ?? '')?.[1] ?? '';
    if (!timingSafeEqual(digest(given), expected)) {
      throw new AppError('INVALID_API_KEY', {
        message: 'The token of the payload codec is missing or not valid',
        suggestion: 'Send TEMPORAL_CODEC_TOKEN as "Authorization: Bearer <token>"',
      });
    }
    next();
  };
}

/**
 * Mounts a codec server at `<PUBLIC_URL>/codec`, where the Temporal UI and CLI have payloads decoded. It exists only if
 * keys and a token are configured.
 */
export function mountCodec(
  app: Express,
  config: Pick<Config, 'TEMPORAL_CODEC_KEYS' | 'TEMPORAL_CODEC_TOKEN' | 'TEMPORAL_UI_ORIGIN'>,
): void {
  const { TEMPORAL_CODEC_TOKEN: token } = config;
  const codec = codecOf(config.TEMPORAL_CODEC_KEYS);
  if (!codec || token === undefined) return;

  const handle = (operation: 'encode' | 'decode') => async (req: Request, res: Response) => {
    const parsed = bodySchema.safeParse(await createJsonBody(req, res, { bytesMax: BODY_BYTES_MAX }).read(), CHECKS);
    if (!parsed.success) throw validationError(fieldErrorsOf(parsed.error));
    try {
      const payloads = await codec[operation](parsed.data.payloads.map(payloadFromJson));
      res.json({ payloads: payloads.map(payloadToJson) });
    } catch (error) {
      throw error instanceof CodecError ? badRequest(error.message) : error;
    }
  };
  for (const operation of ['encode', 'decode'] as const) {
    const path = `/codec/${operation}`;
    app.use(path, allowOrigins(config.TEMPORAL_UI_ORIGIN));
    app.options(path, (_req, res) => {
      res.setHeader('Access-Control-Allow-Methods', 'POST');
      res.setHeader('Access-Control-Allow-Headers', 'Authorization, Content-Type, X-Namespace');
      res.setHeader('Access-Control-Max-Age', PREFLIGHT_SECONDS);
      res.status(204).end();
    });
    app.post(path, requireToken(token), handle(operation));
  }
}
