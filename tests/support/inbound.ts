import { createTransport } from 'nodemailer';
import { v7 as uuidV7 } from 'uuid';
import { CampaignEntity } from '../../shared/domain/campaigns/campaign.entity.ts';
import { ContactEntity } from '../../shared/domain/contacts/contact.entity.ts';
import { EmailEntity } from './entities/email.entity.ts';
import { EventEntity } from './entities/event.entity.ts';
import { createProject } from '../../shared/domain/projects/projects.ts';
import { listSuppressions } from '../../shared/domain/suppressions/suppressions.ts';
import { createLinkSigner, linkSignerOf, type LinkSigner } from '../../shared/sending/compose/links.ts';
import { createLogger } from '../../shared/platform/logger.ts';
import { createVerp, type Verp } from '../../shared/sending/compose/verp.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import type { ReceivedMessage } from './received-messages.ts';
import { createSentMail, type SentMail } from './sent-mail.ts';
import type { TestStack } from './stack.ts';
import { createInboundMail, type InboundMailDeps } from '../../worker/inbound/inbound-mail.ts';
import {
  startInboundServer,
  type InboundServer,
  type InboundServerOptions,
} from '../../worker/inbound/inbound-server.ts';
import { startInbound } from '../../worker/inbound/start-inbound.ts';

export const INBOUND_DOMAIN = 'in.everpost.test';
const appSecret = 'a secret of at least 32 characters';

export interface TestInbound {
  database: TestDatabase;
  /** The project of emails without another `projectId`. */
  projectId: string;
  verp: Verp;
  links: LinkSigner;
  server: InboundServer;
  /** Starts another listener on the same database, with limits of its own. */
  listen: (options?: Partial<InboundServerOptions>, mail?: Partial<InboundMailDeps>) => Promise<InboundServer>;
  /** An email of a campaign that has been sent to a contact of its own. */
  sentMail: (options?: { replyTo?: string; projectId?: string }) => Promise<SentMail>;
  /** The status of the email, with counters, subscription, suppression and events. */
  stateOf: (mail: SentMail) => Promise<any>;
  /** Sends a message to the listener. @returns the last reply of the server */
  deliver: (to: string | string[], raw: string | Buffer, from?: string, server?: InboundServer) => Promise<string>;
  stop: () => Promise<void>;
}

async function deliverTo(port: number, to: string | string[], raw: string | Buffer, from: string): Promise<string> {
  const transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true });
  try {
    const info = await transport.sendMail({ envelope: { from, to }, raw });
    return info.response;
  } catch (error) {
    return (error as { response?: string }).response ?? String(error);
  } finally {
    transport.close();
  }
}

/** The listener for inbound mail on a database of its own. */
export async function startTestInbound(): Promise<TestInbound> {
  const database = await createTestDatabase();
  const em = () => database.orm.em.fork();
  const { project } = await createProject(em(), 'Test');
  const verp = createVerp({ appSecret, domain: INBOUND_DOMAIN });
  const links = createLinkSigner({ appSecret, publicUrl: 'https://e.test' });
  const logger = createLogger({ level: 'silent', name: 'test' });
  const deps = {
    orm: database.orm,
    logger,
    links,
    verp,
    domain: INBOUND_DOMAIN,
    // Complaints in other tests are not about who sent them.
    dns: { txt: () => Promise.resolve({ kind: 'absent', isNameUnknown: true } as const) },
    fblSources: [],
  };
  const listen: TestInbound['listen'] = (options = {}, mailDeps = {}) => {
    const mail = createInboundMail({ ...deps, ...mailDeps });
    return startInboundServer({ port: 0, domain: INBOUND_DOMAIN, mail, logger, ...options });
  };
  const server = await listen();

  return {
    database,
    projectId: project.id,
    verp,
    links,
    server,
    listen,
    sentMail: ({ replyTo, projectId = project.id } = {}) => createSentMail(em(), projectId, { replyTo }),
    async stateOf({ emailId, campaignId, contactId, projectId, address }) {
      const unit = em();
      const email = await unit.findOneOrFail(EmailEntity, { id: emailId });
      const campaign = await unit.findOneOrFail(CampaignEntity, { id: campaignId });
      const contact = await unit.findOneOrFail(ContactEntity, { id: contactId });
      const events = await unit.find(EventEntity, { contactId }, { orderBy: { createdAt: 'asc' } });
      return {
        status: email.status,
        counts: [campaign.deliveredCount, campaign.bouncedCount, campaign.complainedCount],
        subscribed: contact.subscribed,
        suppression: (await listSuppressions(unit, projectId)).find((row) => row.email === address)?.reason,
        events: events.map((event) => event.name).sort(),
        data: events.map((event) => event.data),
      };
    },
    deliver: (to, raw, from = '', { port } = server) => deliverTo(port, to, raw, from),
    async stop() {
      await server.close();
      await database.drop();
    },
  };
}

export interface StackInbound {
  /** Sends a report on a message to its envelope sender. Repeated, it is the same report. */
  report: (message: ReceivedMessage, fields?: DsnFields) => Promise<void>;
  close: () => Promise<void>;
}

/** The listener for inbound mail of a stack whose configuration has an `INBOUND_DOMAIN`. */
export async function startStackInbound({ config, orm }: TestStack): Promise<StackInbound> {
  const logger = createLogger({ level: 'silent', name: 'test' });
  const smtp = { send: () => Promise.reject(new Error('nobody writes to the operator here')) };
  const links = linkSignerOf(config);
  const server = (await startInbound({ config, orm, logger, links, smtp }))!;
  return {
    async report({ to: [recipient = ''], from }, fields) {
      const raw = dsn({ recipient, id: recipient.replace('@', '.'), ...fields });
      const reply = await deliverTo(server.port, from, raw, '');
      if (!reply.startsWith('250')) throw new Error(reply);
    },
    close: () => server.close(),
  };
}

type DsnFields = Parameters<typeof dsn>[0];

/** A report of a mail server (RFC 3464). */
export function dsn({
  recipient = 'somebody@mail.test',
  action = 'failed',
  status = '5.1.1',
  diagnostic = 'smtp; 550 5.1.1 No such user',
  id = uuidV7(),
} = {}): string {
  return [
    'From: MAILER-DAEMON@mx.test',
    `Message-ID: <${id}@mx.test>`,
    'Subject: Undelivered Mail Returned to Sender',
    'Content-Type: multipart/report; report-type=delivery-status;',
    ' boundary="b1"',
    '',
    'ignored',
    '--b1',
    '',
    'Human words',
    '--b1',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.test',
    '',
    `Final-Recipient: rfc822; ${recipient}`,
    `Action: ${action}`,
    `Status: ${status}`,
    `Diagnostic-Code: ${diagnostic}`,
    '',
    '--b1--',
    '',
  ].join('\r\n');
}

/** A report of a feedback loop (RFC 5965), with `evidence` as the reported message. */
export function complaint(evidence: string, type = 'abuse'): string {
  return [
    `Message-ID: <${uuidV7()}@fbl.test>`,
    'Content-Type: multipart/report; report-type=feedback-report; boundary=x',
    '',
    '--x',
    'Content-Type: text/plain',
    '',
    'This is a report',
    '--x',
    'Content-Type: message/feedback-report',
    '',
    `Feedback-Type: ${type}`,
    'User-Agent: Test/1',
    'Version: 1',
    '',
    '--x',
    'Content-Type: message/rfc822',
    '',
    evidence,
    '--x--',
    '',
  ].join('\r\n');
}

/** A reply of a person. */
export function answer(lines: string[], id = uuidV7()): string {
  return [`Message-ID: <${id}@home.test>`, 'From: Ada <ada@home.test>', ...lines, '', 'Thanks!'].join('\r\n');
}
