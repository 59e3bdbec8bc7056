import type { Em } from '../../shared/database/sql.ts';
import type { RecordPurpose } from '../../shared/domain/domains/dns-records.ts';
import { findDomainFaults } from '../../shared/domain/domains/domain-health.ts';
import { ok, warn, type Finding } from './finding.ts';

const AREA = 'sender domains';
/** Faults that are named; a longer list helps nobody. */
const NAMED_MAX = 20;

/** What each sender domain lacks, as its last check in DNS found it: the signature, and records. */
export async function domainFindings(em: Em, inboundDomain: string | undefined): Promise<Finding[]> {
  const wanted: RecordPurpose[] = ['DKIM', 'DMARC', ...(inboundDomain === undefined ? [] : (['RETURN_PATH'] as const))];
  const { faults, total } = await findDomainFaults(em, wanted, NAMED_MAX);
  if (total === 0) return [ok(AREA, `all that may send are signed and have ${wanted.join(', ').replace('_', '-')}`)];
  const findings = faults.map(({ domain, projectId, isUnsigned, missing }) => {
    const lack = missing.length > 0 ? `no ${missing.join(', ')} record found` : 'all records were found just now';
    const state = isUnsigned ? `is trusted and sends unsigned: ${lack}` : `is signed: ${lack}`;
    const action = `\`everpost domain list ${projectId}\` prints the records to publish.`;
    return warn(AREA, `${domain} ${state}`, action);
  });
  const rest = total - faults.length;
  if (rest > 0) findings.push(warn(AREA, `${rest} more domains lack something`, 'Publish the records of these first.'));
  return findings;
}
