import type { LinkSigner } from '../../platform/links.ts';
import type { EmailCompiler, EmailSource } from '../../platform/mail/compiled-email.ts';
import type { Gate } from '../../platform/turns.ts';
import type { EmailAttachment, Mailbox } from './stored-email.ts';

/** A checked request of POST /v1/send. */
export interface TransactionalRequest {
  to: Mailbox[];
  subject?: string;
  html?: string;
  text?: string;
  preheader?: string;
  templateId?: string;
  from?: Mailbox;
  replyTo?: string;
  subscribed?: boolean;
  data?: Record<string, unknown>;
  headers: [string, string][];
  attachments: EmailAttachment[];
}

export interface TransactionalDeps {
  links: LinkSigner;
  compileEmail: EmailCompiler;
  messageBytesMax: number;
  /** Only a few large templates, with what is made of them, are in memory at a time. */
  largeWork: Gate;
}

/** Content and sender, from the request or else from its template. */
export interface ResolvedContent extends EmailSource {
  from: Mailbox;
  replyTo?: string;
  templateId: string | null;
}
