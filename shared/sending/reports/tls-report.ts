import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

/** Sessions with the same policy, host and result. */
export interface ReportedSessions {
  policy: { type: 'tlsa' | 'sts' | 'no-policy-found'; strings: string[]; hosts: string[] };
  /** A result type of RFC 8460 section 4.3, or `success`. */
  type: string;
  host?: string;
  address?: string;
  source?: string;
  reason?: string;
  sessions: number;
}

export interface TlsReportInput {
  /** In UTC, `2026-11-25`. */
  day: string;
  /** The domain that the report is about and for. */
  domain: string;
  /** Who reports, and how people reach them. */
  submitter: string;
  contact: string;
  sessions: readonly ReportedSessions[];
}

const DAY_SECONDS = 86_400;
/** Destinations of one domain that are used. */
const DESTINATIONS_MAX = 5;
const MAILTO = /^mailto:([^?]+)/i;
const LINE_LENGTH = 76;

const sumOf = (sessions: readonly ReportedSessions[]): number => sessions.reduce((sum, each) => sum + each.sessions, 0);

/** Where the reports of a domain go, by the texts at `_smtp._tls.<domain>` (RFC 8460 section 3). */
export function reportDestinations(texts: readonly string[]): { https: string[]; mail: string[] } {
  const [text, second] = texts.filter((each) => /^v=TLSRPTv1\s*;/.test(each));
  const uris = second === undefined ? (/;\s*rua=([^;]+)/.exec(text ?? '')?.[1] ?? '').split(',') : [];
  const known = [...new Set(uris.map((uri) => uri.trim()))].slice(0, DESTINATIONS_MAX);
  const mail = known.flatMap((uri) => {
    try {
      return decodeURIComponent(MAILTO.exec(uri)?.[1] ?? '') || [];
    } catch {
      return [];
    }
  });
  return { https: known.filter((uri) => /^https:/i.test(uri) && URL.canParse(uri)), mail };
}

function policyPart(domain: string, sessions: readonly ReportedSessions[]): object {
  const { type, strings, hosts } = sessions[0]?.policy ?? { type: 'no-policy-found', strings: [], hosts: [] };
  const failed = sessions.filter((each) => each.type !== 'success');
  return {
    policy: {
      'policy-type': type,
      ...(strings.length > 0 && { 'policy-string': strings }),
      'policy-domain': domain,
      ...(hosts.length > 0 && { 'mx-host': hosts }),
    },
    summary: {
      'total-successful-session-count': sumOf(sessions) - sumOf(failed),
      'total-failure-session-count': sumOf(failed),
    },
    'failure-details': failed.map((each) => ({
      'result-type': each.type,
      ...(each.source !== undefined && { 'sending-mta-ip': each.source }),
      ...(each.host !== undefined && { 'receiving-mx-hostname': each.host }),
      ...(each.address !== undefined && { 'receiving-ip': each.address }),
      'failed-session-count': each.sessions,
      ...(each.reason !== undefined && { 'failure-reason-code': each.reason }),
    })),
  };
}

/** Makes the report of a day. The same sessions have the same id, so that a repetition is recognized. */
export function createTlsReport({ day, domain, submitter, contact, sessions }: TlsReportInput) {
  const digest = createHash('sha256')
    .update(JSON.stringify([domain, sessions]))
    .digest('hex');
  const id = `${day}-${digest.slice(0, 16)}@${submitter}`;
  const byPolicy = Map.groupBy(sessions, ({ policy }) => JSON.stringify(policy));
  const report = {
    'organization-name': submitter,
    'date-range': { 'start-datetime': `${day}T00:00:00Z`, 'end-datetime': `${day}T23:59:59Z` },
    'contact-info': contact,
    'report-id': id,
    policies: [...byPolicy.values()].map((each) => policyPart(domain, each)),
  };
  const begins = Date.parse(`${day}T00:00:00Z`) / 1_000;
  const filename = `${submitter}!${domain}!${begins}!${begins + DAY_SECONDS - 1}!001.json.gz`;
  return { id, filename, content: gzipSync(JSON.stringify(report)) };
}

/** A report in JSON, compressed (RFC 8460 section 4). */
export type TlsReport = ReturnType<typeof createTlsReport>;

/** The message that brings a report by email (RFC 8460 section 5.3), with CRLF line ends. */
export function tlsReportMessage(report: TlsReport, input: TlsReportInput, to: string): Buffer {
  const { domain, submitter, contact, day } = input;
  const boundary = `report-${report.id.slice(0, 27)}`;
  const base64 = report.content.toString('base64').replace(new RegExp(`.{${LINE_LENGTH}}`, 'g'), '$&\r\n');
  return Buffer.from(
    [
      `From: ${contact}`,
      `To: ${to}`,
      `Subject: Report Domain: ${domain}\r\n Submitter: ${submitter}\r\n Report-ID: <${report.id}>`,
      `TLS-Report-Domain: ${domain}`,
      `TLS-Report-Submitter: ${submitter}`,
      'MIME-Version: 1.0',
      `Content-Type: multipart/report; report-type="tlsrpt";\r\n boundary="${boundary}"`,
      '',
      `--${boundary}`,
      'Content-Type: text/plain; charset=us-ascii',
      '',
      `This is a report about TLS of email sent to ${domain} on ${day} (RFC 8460).`,
      '',
      `--${boundary}`,
      'Content-Type: application/tlsrpt+gzip',
      'Content-Transfer-Encoding: base64',
      `Content-Disposition: attachment;\r\n filename="${report.filename}"`,
      '',
      base64,
      `--${boundary}--`,
      '',
    ].join('\r\n'),
    'latin1',
  );
}
