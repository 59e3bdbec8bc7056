import type { ErrorRequestHandler } from 'express';
import { chooseLanguage, textsOf } from '../../shared/pure/languages/languages.ts';
import type { Logger } from '../../shared/platform/logger.ts';
import { beginError, toAppError } from '../http/error-envelope.ts';
import { sendPage } from './subscription.routes.ts';

/**
 * Shows people a page instead of an error that is over soon: an outage, or too many requests. Programs get the error as JSON;
 * browsers say that they want HTML.
 */
export function showLaterPage(logger: Logger): ErrorRequestHandler {
  return (error: unknown, req, res, next) => {
    const { statusCode } = toAppError(error);
    const isOverSoon = statusCode === 429 || statusCode >= 500;
    if (!isOverSoon || res.headersSent || req.accepts(['json', 'html']) !== 'html') {
      next(error);
      return;
    }
    beginError(req, res, error, logger);
    const language = chooseLanguage({ locale: undefined, acceptLanguage: req.get('accept-language') });
    const { laterTitle: title, later: text } = textsOf(language).page;
    sendPage(res, { language, title, text }, statusCode);
  };
}
