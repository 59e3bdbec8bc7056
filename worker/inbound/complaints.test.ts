import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { dkimSign } from 'mailauth/lib/dkim/sign.js';
import { v7 as uuidV7 } from 'uuid';
import { query, sql } from '../../shared/database/sql.ts';
import { listComplaintRates } from '../../shared/domain/emails/complaint-rates.ts';
import { createProject } from '../../shared/domain/projects/projects.ts';
import { createDnsResolver } from '../../shared/platform/dns/resolver.ts';
import { createDnsServer, type DnsServer } from '../../tests/support/dns-server.ts';
import {
  complaint,
  INBOUND_DOMAIN as DOMAIN,
  startTestInbound,
  type TestInbound,
} from '../../tests/support/inbound.ts';
import type { SentMail } from '../../tests/support/sent-mail.ts';
import type { InboundServer } from './inbound-server.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const KEY = `v=DKIM1; k=rsa; p=${publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`;

let inbound: TestInbound;
let dnsServer: DnsServer;
/** Listeners without and with the tests' own address in FBL_SOURCES. */
let server: InboundServer;
let naming: InboundServer;
beforeAll(async () => {
  inbound = await startTestInbound();
  dnsServer = await createDnsServer();
  dnsServer.set('s._domainkey.isp.test', { TXT: [KEY] });
  dnsServer.behave('broken.test', { rcode: 'SERVFAIL' });
  const dns = createDnsResolver({ servers: [dnsServer.address] });
  server = await inbound.listen({}, { dns });
  naming = await inbound.listen({}, { dns, fblSources: ['127.0.0.0/8'] });
});
afterAll(async () => {
  await server.close();
  await naming.close();
  await dnsServer.close();
  await inbound.stop();
});

const em = () => inbound.database.orm.em.fork();

async function newProject(): Promise<string> {
  return (await createProject(em(), 'Loop')).project.id;
}

/** The complaints of a project that count. */
async function countOf(projectId: string): Promise<number> {
  return (await listComplaintRates(em(), projectId)).reduce((sum, rate) => sum + rate.complained, 0);
}

async function sign(raw: string, domain = 'isp.test', options: { maxBodyLength?: number } = {}): Promise<string> {
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const signer = { signingDomain: domain, selector: 's', privateKey: pem, ...options };
  const { signatures } = await dkimSign(raw, { ...signer, signatureData: [signer] });
  return `${signatures}${raw}`;
}

const reportOf = (mail: SentMail): string =>
  `From: Feedback <fbl@isp.test>\r\n${complaint(`Return-Path: <${inbound.verp.returnPath(mail.emailId)}>`)}`;
const forwarded = (mail: SentMail): string =>
  `From: Feedback <fbl@isp.test>\r\n${complaint(`\r\nUnsubscribe: ${inbound.links.recipientUrls(mail).unsubscribeUrl}`)}`;

async function report(raw: string, to: InboundServer = server): Promise<void> {
  expect(await inbound.deliver(`abuse@${DOMAIN}`, raw, 'fbl@isp.test', to)).toMatch(/^250/);
}

describe('a complaint', () => {
  it.each<[string, number, (mail: SentMail) => Promise<string>, boolean?]>([
    ['signed by a domain', 1, (mail) => sign(reportOf(mail))],
    ['from a network in FBL_SOURCES', 1, (mail) => Promise.resolve(reportOf(mail)), true],
    ['without a signature', 0, (mail) => Promise.resolve(reportOf(mail))],
    ['that was changed after it was signed', 0, async (mail) => `${await sign(reportOf(mail))}more\r\n`],
    ['whose signature covers a part of it', 0, (mail) => sign(reportOf(mail), 'isp.test', { maxBodyLength: 10 })],
    ['whose key does not exist', 0, (mail) => sign(reportOf(mail), 'other.test')],
    ['whose key cannot be looked up now', 0, (mail) => sign(reportOf(mail), 'broken.test')],
    [
      'with very many signatures',
      0,
      async (mail) => `${'DKIM-Signature: v=1; d=a.test; s=s\r\n'.repeat(500)}${await sign(reportOf(mail))}`,
    ],
  ])('%s protects the person, and counts %d times in rates', async (_name, count, rawOf, isNamed = false) => {
    const projectId = await newProject();
    const mail = await inbound.sentMail({ projectId });
    await report(await rawOf(mail), isNamed ? naming : server);
    expect(await inbound.stateOf(mail)).toMatchObject({
      status: 'COMPLAINED',
      subscribed: false,
      suppression: 'COMPLAINT',
    });
    expect(await countOf(projectId)).toBe(count);
  });

  it('counts once a week for each contact', async () => {
    const projectId = await newProject();
    const first = await inbound.sentMail({ projectId });
    const [emailId, another] = [uuidV7(), await inbound.sentMail({ projectId })];
    await query(
      em(),
      sql`
        insert into email (id, project_id, contact_id, to_address, status, created_at)
        select ${emailId}, project_id, contact_id, to_address, status, created_at from email where id = ${first.emailId}`,
    );
    await report(await sign(reportOf(first)));
    await report(await sign(reportOf({ ...first, emailId })));
    expect(await countOf(projectId)).toBe(1);
    await report(await sign(reportOf(another)));
    expect(await countOf(projectId)).toBe(2);
    const third = uuidV7();
    await query(
      em(),
      sql`
        with aged as (
          update email set complained_at = now() - interval '8 days' where contact_id = ${first.contactId} returning *
        )
        insert into email (id, project_id, contact_id, to_address, status, created_at)
        select ${third}, project_id, contact_id, to_address, 'SENT', created_at from aged limit 1`,
    );
    await report(await sign(reportOf({ ...first, emailId: third })));
    expect(await countOf(projectId)).toBe(3);
  });

  it('that proves no more than the link of a forwarded email ends the subscription, and does not suppress', async () => {
    const projectId = await newProject();
    const mail = await inbound.sentMail({ projectId });
    await report(await sign(forwarded(mail)));
    expect(await inbound.stateOf(mail)).toMatchObject({
      status: 'SENT',
      subscribed: false,
      suppression: undefined,
      events: ['contact.unsubscribed'],
    });
    expect(await countOf(projectId)).toBe(0);
    await report(forwarded(mail), naming);
    expect(await inbound.stateOf(mail)).toMatchObject({ status: 'COMPLAINED', suppression: 'COMPLAINT' });
    expect(await countOf(projectId)).toBe(1);
  });

  it('to the mailbox of a feedback loop counts for the email that it proves', async () => {
    const [byPath, byLink, forged] = [await inbound.sentMail(), await inbound.sentMail(), await inbound.sentMail()];
    const byOwnPath = await inbound.sentMail();
    const { unsubscribeUrl } = inbound.links.recipientUrls(byLink);
    await inbound.deliver(
      `complaints@${DOMAIN}`,
      complaint(`Return-Path: <${inbound.verp.returnPath(byPath.emailId)}>`),
    );
    await inbound.deliver(
      `fbl@${DOMAIN}`,
      complaint(`X-Envelope: ${inbound.verp.returnPath(byOwnPath.emailId, 'bounce.shop.test')}`),
    );
    await inbound.deliver(
      `fbl@${DOMAIN}`,
      complaint(`List-Unsubscribe: <${unsubscribeUrl.slice(0, 60)}\r\n ${unsubscribeUrl.slice(60)}>`),
    );
    await inbound.deliver(`abuse@${DOMAIN}`, complaint(`Message-ID: <${forged.emailId}@example.com>`));
    await inbound.deliver(inbound.verp.returnPath(forged.emailId), complaint('Subject: News', 'not-spam'));
    expect((await inbound.stateOf(byPath)).status).toBe('COMPLAINED');
    expect((await inbound.stateOf(byOwnPath)).status).toBe('COMPLAINED');
    expect(await inbound.stateOf(byLink)).toMatchObject({ status: 'SENT', subscribed: false, suppression: undefined });
    expect((await inbound.stateOf(forged)).status).toBe('SENT');
  });
});
