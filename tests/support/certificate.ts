import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** Key and certificate in PEM. */
export interface TestCertificate {
  key: string;
  cert: string;
}

const ECDSA_WITH_SHA256 = '06082a8648ce3d040302';
const COMMON_NAME = '0603550403';
const SUBJECT_ALTERNATIVE_NAME = '0603551d11';
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

/** A new key with a certificate that it signs itself, for one DNS name (RFC 5280). */
export function createTestCertificate(name: string): TestCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(ECDSA_WITH_SHA256);
  const subject = sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(name)))));
  const validity = sequence(utcTime(new Date(Date.now() - DAY_MS)), utcTime(new Date(Date.now() + DAY_MS)));
  const names = der(0x04, sequence(der(0x82, Buffer.from(name))));
  const toBeSigned = sequence(
    der(0xa0, der(0x02, '02')),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ...[algorithm, subject, validity, subject],
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(SUBJECT_ALTERNATIVE_NAME, names))),
  );
  const signature = der(0x03, '00', sign('sha256', toBeSigned, privateKey));
  const body = sequence(toBeSigned, algorithm, signature).toString('base64').replace(/.{64}/g, '$&\n').trim();
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`,
  };
}
