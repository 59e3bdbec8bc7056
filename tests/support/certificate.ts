import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

/** Key and certificate in PEM. */
export interface TestCertificate {
  key: string;
  cert: string;
}

const ECDSA_WITH_SHA256 = '06082a8648ce3d040302';
const COMMON_NAME = '0603550403';
const SUBJECT_ALTERNATIVE_NAME = '0603551d11';
const BASIC_CONSTRAINTS = '0603551d13';
const DAY_MS = 86_400_000;

/** A value in DER: its tag, its length, its octets. */
function der(tag: number, ...contents: (Buffer | string)[]): Buffer {
  const body = Buffer.concat(contents.map((part) => (typeof part === 'string' ? Buffer.from(part, 'hex') : part)));
  const octets = body.length < 256 ? [body.length] : [body.length >> 8, body.length & 0xff];
  const length = body.length < 128 ? octets : [0x80 + octets.length, ...octets];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}
const sequence = (...contents: (Buffer | string)[]) => der(0x30, ...contents);

function utcTime(moment: Date): Buffer {
  const digits = moment.toISOString().replace(/\D/g, '').slice(2, 14);
  return der(0x17, Buffer.from(`${digits}Z`));
}

/** A certificate to issue. */
interface CertificateWish {
  name: string;
  /** Days from now. */
  days: readonly [from: number, to: number];
  isAuthority?: boolean;
  /** Without DNS names it has its name only as its common name. */
  hasDnsNames?: boolean;
  /** Without it the certificate signs itself. */
  issuer?: { name: string; key: KeyObject };
}

const nameOf = (name: string) => sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(name)))));

function issue({ name, days: [from, to], isAuthority = false, hasDnsNames = true, issuer }: CertificateWish) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(ECDSA_WITH_SHA256);
  const validity = sequence(utcTime(new Date(Date.now() + from * DAY_MS)), utcTime(new Date(Date.now() + to * DAY_MS)));
  const altName = hasDnsNames ? der(0x82, Buffer.from(name)) : der(0x81, Buffer.from(`postmaster@${name}`));
  const names = sequence(SUBJECT_ALTERNATIVE_NAME, der(0x04, sequence(altName)));
  const basic = sequence(BASIC_CONSTRAINTS, '0101ff', der(0x04, sequence('0101ff')));
  const toBeSigned = sequence(
    der(0xa0, der(0x02, '02')),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    nameOf(issuer?.name ?? name),
    validity,
    nameOf(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(isAuthority ? basic : names)),
  );
  const signature = der(0x03, '00', sign('sha256', toBeSigned, issuer?.key ?? privateKey));
  const raw = sequence(toBeSigned, algorithm, signature);
  const body = raw.toString('base64').replace(/.{64}/g, '$&\n').trim();
  return {
    privateKey,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`,
  };
}

/** A new key with a certificate that it signs itself, for one DNS name (RFC 5280). */
export function createTestCertificate(name: string): TestCertificate {
  const { key, cert } = issue({ name, days: [-1, 1] });
  return { key, cert };
}

/** An authority that issues certificates for tests. */
export interface TestAuthority {
  cert: string;
  /** A certificate for a name, with that of the authority behind it. @param days from when to when it is valid */
  issue: (name: string, days?: readonly [from: number, to: number]) => TestCertificate;
  /** One that has the name as its common name, and no DNS name. */
  issueWithoutDnsNames: (name: string) => TestCertificate;
}

export function createTestAuthority(): TestAuthority {
  const name = 'Everpost test authority';
  const { cert, privateKey } = issue({ name, days: [-100, 100], isAuthority: true });
  const issueAs = (wish: Omit<CertificateWish, 'issuer'>): TestCertificate => {
    const issued = issue({ ...wish, issuer: { name, key: privateKey } });
    return { key: issued.key, cert: issued.cert + cert };
  };
  return {
    cert,
    issue: (host, days = [-1, 1]) => issueAs({ name: host, days }),
    issueWithoutDnsNames: (host) => issueAs({ name: host, days: [-1, 1], hasDnsNames: false }),
  };
}
