import type { EmailType } from '../../pure/emails/email-types.ts';
import type { LinkSigner } from '../../platform/links.ts';
import type { MailCompiler } from '../../platform/mail/mail-content.ts';
import type { Gate } from '../../platform/turns.ts';
import type { MailAttachment, Mailbox } from './stored-mail.ts';

/** A checked request of POST /v1/send. */
export interface TransactionalRequest {
  to: Mailbox[];
  subject?: string;
  html?: string;
  templateId?: string;
  from?: Mailbox;
  replyTo?: string;
  subscribed?: boolean;
  data?: Record<string, unknown>;
  headers: [string, string][];
  attachments: MailAttachment[];
}

export interface TransactionalDeps {
  links: LinkSigner;
  compileMail: MailCompiler;
  messageBytesMax: number;
  /** Only a few large templates, with what is made of them, are in memory at a time. */
  largeWork: Gate;
}

/** Content and sender, from the request or else from its template. */
export interface ResolvedContent {
  subject: string;
  html: string;
  type: EmailType;
  isTracked: boolean;
  from: Mailbox;
  replyTo?: string;
  templateId: string | null;
}
