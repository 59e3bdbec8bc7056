import { uuidV7 } from '../../platform/uuid.ts';
import type { Config } from '../../platform/config.ts';
import type { LookUp } from '../../platform/dns/lookups.ts';
import type { Logger } from '../../platform/logger.ts';
import type { WebhookClient } from '../../platform/webhook/webhook-client.ts';
import { domainOf, emailAddressSchema } from '../../pure/emails/email-address.ts';
import { query, queryOne, sql, TODAY, inTransaction, type Em } from '../../database/sql.ts';
import { number, pick, tables, text } from '../../database/tables.ts';
import { messageIdOf } from '../../sending/compose/message-id.ts';
import {
  createTlsReport,
  reportDestinations,
  tlsReportMessage,
  type ReportedSessions,
  type TlsReport,
  type TlsReportInput,
} from '../../sending/reports/tls-report.ts';
import { isRecipientAddress } from '../../sending/transport/wire-address.ts';
import { storeEmails } from './stored-email.ts';
import './mx-ports.ts';

export interface TlsReportsDeps {
  config: Pick<Config, 'TLS_REPORT_FROM'>;
  em: () => Em;
  logger: Logger;
  lookUp: LookUp;
  client: Pick<WebhookClient, 'send'>;
}

/** Details in one report; a domain has no more. */
const DETAILS_MAX = 1_000;
/** How long a report is tried that could not be handed over (RFC 8460 section 5.4 asks for 24 hours). */
const DAYS_MAX = 3;

interface Due {
  day: string;
  domain: string;
}

/** The next report that is due, after one of the same run. */
function nextDue(em: Em, after: Due): Promise<Due | undefined> {
  return queryOne(
    em,
    sql`
      select day::text, domain from tls_result
      where day < ${TODAY} and (day, domain) > (${after.day}::date, ${after.domain}) order by day, domain limit 1`,
    { day: text, domain: tables.tlsResult.domain },
  );
}

/** The project that may send from the address of reports; undefined where its domain is verified in none. */
export async function reportingProject(em: Em, from: string): Promise<string | undefined> {
  const row = await queryOne(
    em,
    sql`select project_id from sender_domain where domain = ${domainOf(from)} and dns_verified order by created_at limit 1`,
    { project_id: tables.senderDomain.projectId },
  );
  return row?.project_id;
}

/** @returns how many receivers took the report */
async function post({ client, logger }: TlsReportsDeps, report: TlsReport, urls: readonly string[]): Promise<number> {
  let taken = 0;
  for (const url of urls) {
    const request = { url, method: 'POST', id: '', secrets: [], body: report.content } as const;
    const headers = { 'content-type': 'application/tlsrpt+gzip' };
    try {
      const { statusCode } = await client.send({ ...request, headers, followsRedirects: false });
      if (statusCode < 300) taken += 1;
      else logger.debug({ statusCode }, 'a report about TLS was refused');
    } catch (error) {
      logger.debug({ err: error }, 'a report about TLS could not be handed over');
    }
  }
  return taken;
}

/** Stores a report with the email that brings it. Faults of TLS do not keep it back (RFC 8460 section 5.3). */
async function storeReport(
  tx: Em,
  projectId: string,
  report: TlsReport,
  input: TlsReportInput,
  to: string,
): Promise<void> {
  const [setId, emailId] = [uuidV7(), uuidV7()];
  const date = new Date().toUTCString().replace('GMT', '+0000');
  const frame = Buffer.from(`Message-ID: <${messageIdOf(emailId, input.contact)}>\r\nDate: ${date}\r\n`, 'latin1');
  const content = Buffer.concat([frame, tlsReportMessage(report, input, to)]);
  const submission = { isTracked: false, isEightBit: false, ignoresTls: true };
  const file = { filename: 'message.eml', contentType: 'message/rfc822', disposition: 'attachment' } as const;
  const subject = `Report Domain: ${input.domain} Submitter: ${input.submitter} Report-ID: <${report.id}>`;
  const headers: [string, string][] = [['Auto-Submitted', 'auto-generated']];
  const sender = { templateId: null, topic: null, from: { address: input.contact }, attachmentSetId: setId };
  const email = { emailId, contactId: null, to: { address: to }, subject, html: '', text: '', headers, sender };
  await storeEmails(tx, projectId, [email], { files: [{ ...file, setId, position: 0, content, submission }] });
}

/** Sends one report, leaves it for the next run, or drops one that nobody wants. */
async function sendReport(deps: TlsReportsDeps, from: string, due: Due): Promise<'sent' | 'left' | 'dropped'> {
  const { em, lookUp } = deps;
  const { day, domain } = due;
  const found = await lookUp('TXT', `_smtp._tls.${domain}`);
  if (found.kind === 'failed') return 'left';
  const rows = await query(
    em(),
    sql`
      select digest, detail, sessions from tls_result where day = ${day}::date and domain = ${domain}
      order by digest limit ${DETAILS_MAX}`,
    { ...pick(tables.tlsResult, 'digest', 'detail'), sessions: number },
  );
  const sessions = rows.map(({ detail, sessions: count }): ReportedSessions => ({ ...detail, sessions: count }));
  const input: TlsReportInput = { day, domain, submitter: domainOf(from), contact: from, sessions };
  const report = createTlsReport(input);
  const { https, mail } = reportDestinations(found.kind === 'found' ? found.records : []);
  const addresses = mail.filter(
    (address) => emailAddressSchema.safeParse(address).success && isRecipientAddress(address),
  );
  const projectId = addresses.length > 0 ? await reportingProject(em(), from) : undefined;
  const taken = await post(deps, report, https);
  const isWanted = https.length + addresses.length > 0;
  if (isWanted && taken === 0 && projectId === undefined) return 'left';
  await inTransaction(em(), async (tx) => {
    const gone = await query(
      tx,
      sql`
        delete from tls_result where day = ${day}::date and domain = ${domain}
          and digest = any(${rows.map(({ digest }) => digest)}::text[]) returning digest`,
      pick(tables.tlsResult, 'digest'),
    );
    // Another run was faster.
    if (gone.length === 0 || projectId === undefined) return;
    for (const to of addresses) await storeReport(tx, projectId, report, input, to);
  });
  return isWanted ? 'sent' : 'dropped';
}

/**
 * Sends the reports about earlier days to the domains that ask for them (RFC 8460), and forgets old results and policies.
 * A run that is repeated sends no report by email twice.
 * @param advance called after each report
 */
export async function sendTlsReports(
  deps: TlsReportsDeps,
  signal: AbortSignal,
  advance: () => void,
): Promise<{ sent: number; left: number; dropped: number }> {
  const { config, em } = deps;
  const counts = { sent: 0, left: 0, dropped: 0 };
  await query(em(), sql`delete from mta_sts_policy where expires_at < now()`);
  await query(em(), sql`delete from tls_result where day < ${TODAY} - ${DAYS_MAX}::int`);
  if (config.TLS_REPORT_FROM === undefined) return counts;
  let due: Due | undefined = { day: '-infinity', domain: '' };
  while ((due = await nextDue(em(), due))) {
    signal.throwIfAborted();
    counts[await sendReport(deps, config.TLS_REPORT_FROM, due)] += 1;
    advance();
  }
  return counts;
}
