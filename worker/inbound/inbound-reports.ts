import {
  findEmailAddress,
  recordDeliveries,
  recordDelivery,
  recordHardBounce,
  recordSoftBounce,
} from '../../shared/domain/emails/feedback.ts';
import { isUndoneByServer } from '../../shared/database/database-errors.ts';
import type { Em } from '../../shared/database/sql.ts';
import { normalizeAddress } from '../../shared/pure/emails/email-address.ts';
import { Gather } from '../../shared/platform/gather.ts';
import type { DsnRecipient } from '../../shared/sending/reports/dsn.ts';
import type { LinkSigner } from '../../shared/sending/compose/links.ts';
import type { Verp } from '../../shared/sending/compose/verp.ts';
import { judgeReport } from '../../shared/sending/verdict/judge-report.ts';

/** The outcome of a report of successful delivery. */
export const DELIVERED = 'delivered';

/**
 * The actions of success (RFC 3464 section 2.3.3): delivered to the mailbox; relayed to a server that sends no
 * receipts, which is all that will ever be known; or expanded to the addresses of a list.
 */
const DELIVERED_ACTIONS = new Set(['delivered', 'relayed', 'expanded']);
const RECEIPTS_MAX = 200;
/** The length of the server reply that is stored with an email. */
const DIAGNOSTIC_LENGTH_MAX = 500;

/**
 * The email that a report is proven to be about, by what we signed. Only servers see the `envelope` sender. An
 * `unsubscribe` link or address is in the email itself, and may have been forwarded to anybody.
 */
export interface EmailProof {
  emailId: string;
  by: 'envelope' | 'unsubscribe';
}

/** Creates the function that finds the email that a report is proven to be about. */
export function createProof(verp: Verp, links: LinkSigner): (evidence: string) => EmailProof | undefined {
  return (evidence) => {
    for (const match of evidence.matchAll(/bounce\+[a-z2-7]{40}@[a-z0-9.-]{1,253}/gi)) {
      const emailId = verp.readAddress(match[0]);
      if (emailId !== undefined) return { emailId, by: 'envelope' };
    }
    for (const match of evidence.matchAll(/unsubscribe\+[a-z2-7]{40}@[a-z0-9.-]{1,253}/gi)) {
      const emailId = verp.readUnsubscribeAddress(match[0]);
      if (emailId !== undefined) return { emailId, by: 'unsubscribe' };
    }
    for (const match of evidence.matchAll(/\/unsubscribe\/([\w-]{64})/g)) {
      const owner = links.readRecipientToken(match[1] ?? '');
      if (owner) return { emailId: owner.emailId, by: 'unsubscribe' };
    }
    return undefined;
  };
}

/**
 * What a report says about our recipient. When it names several, and ours is not among them, as after a forwarding, the
 * email may have arrived for one of them: then nothing counts that would unsubscribe somebody.
 */
async function aboutOurs(em: Em, emailId: string, recipients: DsnRecipient[]): Promise<DsnRecipient[]> {
  if (recipients.length < 2) return recipients;
  const address = await findEmailAddress(em, emailId);
  const own = recipients.filter(
    ({ recipient }) => address !== undefined && normalizeAddress(recipient) === normalizeAddress(address),
  );
  return own.length > 0 ? own : recipients;
}

interface JudgedFailure extends ReturnType<typeof judgeReport> {
  failed: DsnRecipient;
}

/** The failure that counts; undefined when there is none, or when only others of several recipients are dead. */
function failureOf(recipients: DsnRecipient[]): JudgedFailure | undefined {
  const failures = recipients
    .filter((each) => each.action === 'failed')
    .map((failed) => ({ failed, ...judgeReport(failed) }));
  const mildest = failures.find((each) => each.kind !== 'hard');
  return mildest ?? (failures.length === recipients.length ? failures[0] : undefined);
}

/**
 * Creates the recorder of delivery reports about an email.
 * @returns the function that records a report and returns its outcome for the log
 */
export function createReportRecorder(em: () => Em) {
  // A relay returns the receipts of a campaign over many connections at once, so they share statements.
  const deliveries = new Gather<string, boolean>({
    async write(emailIds, isFirst) {
      if (isFirst) return recordDeliveries(em(), emailIds);
      await Promise.all(emailIds.map((emailId) => recordDelivery(em(), emailId)));
      return emailIds.map(() => true);
    },
    itemsMax: RECEIPTS_MAX,
    // The receipts of a group may be of several projects, and one may wait for the lock of another.
    afterFault: (error) => (isUndoneByServer(error) ? 'split' : 'fail'),
  });

  return async (emailId: string, reportId: string, named: DsnRecipient[]): Promise<string> => {
    const recipients = await aboutOurs(em(), emailId, named);
    const failure = failureOf(recipients);
    if (failure) {
      const { failed, kind, rule } = failure;
      const diagnostic = (failed.diagnostic === '' ? failed.status : failed.diagnostic).slice(0, DIAGNOSTIC_LENGTH_MAX);
      const reported = { kind, rule, diagnostic, ...(failed.remoteMta !== '' && { server: failed.remoteMta }) };
      if (kind === 'hard') await recordHardBounce(em(), emailId, reported);
      else await recordSoftBounce(em(), emailId, reported, reportId);
      return `${kind === 'hard' ? 'hard' : 'soft'} bounce ${failed.status} ${rule}`;
    }
    if (recipients.some((each) => DELIVERED_ACTIONS.has(each.action))) {
      if (!(await deliveries.add(emailId))) await recordDelivery(em(), emailId);
      return DELIVERED;
    }
    return 'nothing yet';
  };
}
