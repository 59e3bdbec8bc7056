import { CLOSED_ACCOUNT, NO_SUCH_DOMAIN, NO_SUCH_USER } from './english-words.ts';
import { NO_SUCH_USER_FOREIGN } from './foreign-words.ts';
import { rulesOf, type RefusalStage } from './refusal-rule.ts';

/** The stages at which a server has seen the recipient. */
export const AFTER_SENDER: readonly RefusalStage[] = ['rcpt', 'data', 'report'];

/** The server says that the address or its domain does not exist, or no longer exists. */
export const HARD_RULES = rulesOf('hard', [
  {
    id: 'no-such-user',
    source: 'RFC 3463 section 3.2, in the words of Gmail, Postfix, Exim, qmail, Exchange, Yahoo and others',
    stages: AFTER_SENDER,
    words: NO_SUCH_USER,
  },
  {
    id: 'no-such-user-language',
    source: 'web.de, La Poste, Orange, Libero, Terra, UOL, Seznam, o2.pl, mail.ru, QQ, 163, docomo, Naver',
    stages: AFTER_SENDER,
    words: NO_SUCH_USER_FOREIGN,
  },
  {
    id: 'closed-account',
    source: 'Gmail (DisabledUser), Yahoo, GMX, mail.ru, RFC 3463 section 3.3 (X.2.1)',
    stages: AFTER_SENDER,
    words: CLOSED_ACCOUNT,
  },
  {
    id: 'no-such-domain',
    source: 'RFC 3463 section 3.2 (X.1.2, X.1.10), RFC 7505, Sendmail, Postfix, qmail, Microsoft 365',
    stages: AFTER_SENDER,
    words: NO_SUCH_DOMAIN,
  },
  {
    id: 'mailbox-unavailable',
    source: 'RFC 5321 section 4.2.3 (550), GMX, Outlook',
    stages: ['rcpt', 'report'],
    code: /^55[03]$/,
    words: /mailbox (?:is )?(?:unavailable|not available|name not allowed)(?! or access)/,
  },
]);
