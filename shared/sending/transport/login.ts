import { createHmac } from 'node:crypto';
import type { Dialogue } from './dialogue.ts';
import { ConnectionFault } from './errors.ts';
import { parseSmtpReply } from './smtp-reply.ts';

export interface Credentials {
  user: string;
  /** The password; for XOAUTH2 the access token. */
  pass: string;
  /** One of the mechanisms below; the first that the server offers when left out. */
  method?: string;
}

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');

type Ask = (line: string) => Promise<{ code: number; text: string }>;

/** SASL mechanisms. Each returns the last reply. */
const MECHANISMS: Record<string, (ask: Ask, credentials: Credentials) => Promise<{ code: number; text: string }>> = {
  /** RFC 4616, with the initial response of RFC 4954. Some servers still ask for the response afterwards. */
  async PLAIN(ask, { user, pass }) {
    const response = base64(`\0${user}\0${pass}`);
    const reply = await ask(`AUTH PLAIN ${response}`);
    return reply.code === 334 ? ask(response) : reply;
  },
  async LOGIN(ask, { user, pass }) {
    const first = await ask('AUTH LOGIN');
    if (first.code !== 334) return first;
    const second = await ask(base64(user));
    return second.code === 334 ? ask(base64(pass)) : second;
  },
  /** RFC 2195. */
  async 'CRAM-MD5'(ask, { user, pass }) {
    const reply = await ask('AUTH CRAM-MD5');
    if (reply.code !== 334) return reply;
    const challenge = Buffer.from(reply.text.slice(4), 'base64');
    return ask(base64(`${user} ${createHmac('md5', pass).update(challenge).digest('hex')}`));
  },
  /** The mechanism of Google and Microsoft. They send a refusal as a challenge, which an empty line answers. */
  async XOAUTH2(ask, { user, pass }) {
    const reply = await ask(`AUTH XOAUTH2 ${base64(`user=${user}\x01auth=Bearer ${pass}\x01\x01`)}`);
    return reply.code === 334 ? ask('') : reply;
  },
};

/**
 * Logs in (RFC 4954).
 * @param offered the mechanisms of the server's AUTH line
 * @throws ConnectionFault EAUTH when the server refuses, or shares no mechanism with us
 */
export async function logIn(
  dialogue: Dialogue,
  credentials: Credentials,
  offered: readonly string[],
  timeoutMs: number,
): Promise<void> {
  const wanted = credentials.method?.toUpperCase() ?? Object.keys(MECHANISMS).find((name) => offered.includes(name));
  const mechanism = wanted === undefined ? undefined : MECHANISMS[wanted];
  if (!mechanism) throw new ConnectionFault('EAUTH', 'the server offers no login mechanism that is supported');
  const reply = await mechanism(async (line) => {
    const text = await dialogue.ask(line, timeoutMs);
    return { code: parseSmtpReply(text)?.replyCode ?? 0, text };
  }, credentials);
  if (reply.code !== 235) {
    throw new ConnectionFault('EAUTH', `the login was refused (${reply.code})`, { response: reply.text });
  }
}
