import { get as getHttp, type IncomingMessage } from 'node:http';
import { get as getHttps } from 'node:https';
import { TLSSocket } from 'node:tls';
import { DAY_MS } from '../../shared/pure/days.ts';
import { publicUrlWarning, type Config } from '../../shared/platform/config.ts';
import { findingsAbout, type Finding, type Probe } from './finding.ts';

const AREA = 'PUBLIC_URL';
const { ok, warn, fail } = findingsAbout(AREA);
const ANSWER_BYTES_MAX = 4_096;
const CERTIFICATE_DAYS_MIN = 14;
const TLS_FAULT = /CERT|SELF_SIGNED|UNABLE_TO|ERR_TLS|EPROTO|ERR_SSL/;

interface Answer {
  status: number;
  text: string;
  /** When the certificate of the server ends, over https. */
  validUntil: Date | undefined;
}

function readAnswer(response: IncomingMessage, resolve: (answer: Answer) => void): void {
  let text = '';
  const { socket } = response;
  const validTo = socket instanceof TLSSocket ? socket.getPeerCertificate().valid_to : undefined;
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    if (text.length > ANSWER_BYTES_MAX) response.destroy();
  });
  response.on('close', () => {
    resolve({
      status: response.statusCode ?? 0,
      text,
      validUntil: validTo === undefined ? undefined : new Date(validTo),
    });
  });
}

function ask(url: URL, signal: AbortSignal): Promise<Answer> {
  const get = url.protocol === 'https:' ? getHttps : getHttp;
  return new Promise((resolve, reject) => {
    get(url, { signal, agent: false }, (response) => readAnswer(response, resolve)).on('error', reject);
  });
}

function isHealthy({ status, text }: Answer): boolean {
  return status === 200 && /"status"\s*:\s*"ok"/.test(text);
}

function answerFinding(publicUrl: string, answer: Answer): Finding {
  if (!isHealthy(answer)) {
    return fail(
      `${publicUrl}/health answers ${answer.status}, and not as Everpost does`,
      'Let your proxy pass everything to the API, and let PUBLIC_URL name that address.',
    );
  }
  const days = answer.validUntil && Math.floor((answer.validUntil.getTime() - Date.now()) / DAY_MS);
  if (days === undefined || days >= CERTIFICATE_DAYS_MIN) return ok(`${publicUrl} leads to the API`);
  return warn(`the certificate of ${publicUrl} expires in ${days} days`, 'Renew it.');
}

function faultFinding(publicUrl: string, error: unknown): Finding {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (TLS_FAULT.test(code)) {
    return fail(
      `the certificate of ${publicUrl} is not accepted (${code})`,
      'Install one that browsers accept, with its whole chain.',
    );
  }
  return warn(
    `${publicUrl} cannot be reached from here (${code || 'no answer'})`,
    'Try it from outside: links in emails lead there. Some networks cannot reach their own public address.',
  );
}

/** Whether links in mail lead to the API, over https and with a certificate that is accepted. */
export function publicUrlProbe(config: Pick<Config, 'publicUrl' | 'PUBLIC_URL'>): Probe {
  return {
    area: AREA,
    async run(signal) {
      const { publicUrl } = config;
      const findings: Finding[] = [];
      if (config.PUBLIC_URL === undefined) {
        findings.push(
          warn('is not set: links in mail lead to localhost', 'Set it to the address that recipients can reach.'),
        );
      } else if (publicUrlWarning(config) !== undefined) {
        findings.push(
          warn(
            `${publicUrl} is not https: mail programs offer no one-click unsubscribing`,
            'Put a proxy with a certificate in front.',
          ),
        );
      }
      try {
        findings.push(answerFinding(publicUrl, await ask(new URL(`${publicUrl}/health`), signal)));
      } catch (error) {
        findings.push(faultFinding(publicUrl, error));
      }
      return findings;
    },
  };
}
