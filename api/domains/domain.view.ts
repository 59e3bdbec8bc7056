import { z } from 'zod';
import { domainRecords, RECORD_PURPOSES } from '../../shared/domain/domains/dns-records.ts';
import { recordSourceOf } from '../../shared/domain/domains/domain-checks.ts';
import type { KeyedSenderDomain } from '../../shared/domain/domains/sender-domains.ts';
import { viewOf } from '../http/view.ts';
import { model } from '../../shared/pure/model.ts';

const dnsRecordSchema = model('DnsRecord', 'A DNS record to set up', {
  type: z.enum(['TXT', 'MX']),
  name: z.string().describe('The full name of the record'),
  value: z.string(),
  purpose: z.enum(RECORD_PURPOSES),
  required: z.boolean().describe('Whether the domain needs it to be verified'),
  found: z.boolean().describe('Whether the last check found it'),
});

export const domainSchema = model('Domain', 'A domain to send from', {
  id: z.uuid(),
  domain: z.string(),
  verified: z.boolean(),
  status: z.enum(['PENDING', 'VERIFIED']),
  signed: z
    .boolean()
    .describe(
      'Whether email from the domain is signed with DKIM. A domain that the operator trusts may send (`verified`) before DNS verifies it, and sends unsigned until then',
    ),
  records: z.array(dnsRecordSchema),
  projectId: z.uuid(),
  lastCheckedAt: z.iso.datetime().nullable(),
  verifiedAt: z.iso.datetime().nullable(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

/** A sender domain as callers see it, with the DNS records its owner is to set up. */
export const domainView = viewOf(domainSchema, (domain: KeyedSenderDomain, inboundDomain: string | undefined) => ({
  status: domain.verified ? ('VERIFIED' as const) : ('PENDING' as const),
  signed: domain.dnsVerified,
  records: domainRecords(recordSourceOf(domain, inboundDomain)).map((record) => ({
    ...record,
    found: domain.recordsFound.includes(record.purpose),
  })),
}));
