import { once } from 'node:events';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { connect as connectTls, TLSSocket } from 'node:tls';
import { Dialogue } from './dialogue.ts';
import { ConnectionFault, SmtpUnavailableError, toFault } from './errors.ts';
import { logIn } from './login.ts';
import { parseSmtpReply, printableReply, replyCodeOf } from './smtp-reply.ts';
import { isLoopback, mayGoInClear, type SmtpServerOptions } from './smtp-url.ts';

/** The extensions that a server lists in its reply to EHLO. */
export interface SmtpCapabilities {
  /** Commands may be sent without waiting for each reply (RFC 2920). */
  hasPipelining: boolean;
  /** Messages may ask for delivery notifications (RFC 3461). */
  hasDsn: boolean;
  /** MAIL FROM takes the kind of the content (RFC 6152). */
  hasEightBit: boolean;
  /** MAIL FROM takes the size of the message (RFC 1870). */
  hasSize: boolean;
  /** Addresses and headers may have UTF-8 (RFC 6531). */
  hasUtf8: boolean;
  /** Octets of one message; 0 when the server names no limit. */
  sizeMax: number;
}

/** A connection that is ready for the first message; its socket is paused. */
export interface SmtpConnection {
  socket: Socket;
  capabilities: SmtpCapabilities;
  /** False if the URL has no login, or the server offers none. */
  isLoggedIn: boolean;
  /** Whether messages leave this machine unencrypted. */
  isInClear: boolean;
}

/** The parameters of each extension, by its name in capitals. */
type Extensions = ReadonlyMap<string, readonly string[]>;

const CONNECTION_TIMEOUT_MS = 30_000;
/** RFC 5321 section 4.5.3.2.1 */
const REPLY_TIMEOUT_MS = 300_000;

/**
 * Waits for a reply with an expected code.
 * @param step the command, as the error names it
 * @throws ConnectionFault EPROTOCOL for any other reply
 */
async function expectReply(text: Promise<string>, isWanted: (code: number) => boolean, step: string): Promise<string> {
  const response = await text;
  const reply = parseSmtpReply(response);
  if (reply && isWanted(reply.replyCode)) return response;
  const codes = reply
    ? [reply.replyCode, reply.enhancedCode].filter((code) => code !== undefined).join(' ')
    : undefined;
  throw new ConnectionFault('EPROTOCOL', `${step} was answered with ${codes ?? 'no reply code'}`, { response });
}

const isPositive = (code: number): boolean => code >= 200 && code < 300;

function readExtensions(response: string): Extensions {
  const lines = response.split('\n');
  return new Map(
    lines.map((line) => {
      // Some old servers write "AUTH=PLAIN".
      const [name = '', ...parameters] = line
        .slice(4)
        .trim()
        .toUpperCase()
        .split(/[\s=]+/);
      return [name, parameters] as const;
    }),
  );
}

function capabilitiesOf(extensions: Extensions): SmtpCapabilities {
  const size = Number(extensions.get('SIZE')?.[0] ?? 0);
  return {
    hasPipelining: extensions.has('PIPELINING'),
    hasDsn: extensions.has('DSN'),
    hasEightBit: extensions.has('8BITMIME'),
    hasSize: extensions.has('SIZE'),
    hasUtf8: extensions.has('SMTPUTF8'),
    sizeMax: Number.isSafeInteger(size) ? size : 0,
  };
}

/** The domain name of this machine, or an address literal without one (RFC 5321 section 4.1.4). */
function ownName(): string {
  const name = hostname();
  return /^[\w-]+(?:\.[\w-]+)+$/.test(name) ? name : '[127.0.0.1]';
}

/** One attempt to open a connection. */
class Opening {
  readonly #server: SmtpServerOptions;
  readonly #signal: AbortSignal;
  readonly #replyTimeoutMs: number;
  #socket: Socket | undefined;
  /** Whether the upgrade to TLS has begun, and no EHLO was answered since then. TLS 1.3 fails there, too. */
  isUpgrading = false;

  constructor(server: SmtpServerOptions, signal: AbortSignal) {
    this.#server = server;
    this.#signal = signal;
    this.#replyTimeoutMs = server.replyTimeoutMs ?? REPLY_TIMEOUT_MS;
  }

  async run(): Promise<SmtpConnection> {
    const end = (): void => {
      this.#socket?.destroy(new ConnectionFault('EABORTED', 'the connection is not needed any more'));
    };
    this.#signal.addEventListener('abort', end, { once: true });
    try {
      return await this.#open();
    } catch (error) {
      this.#socket?.on('error', () => undefined);
      this.#socket?.destroy();
      throw error;
    } finally {
      this.#signal.removeEventListener('abort', end);
    }
  }

  async #open(): Promise<SmtpConnection> {
    const { host, port, isSecure, auth } = this.#server;
    const { localAddress } = this.#server;
    const address = { host, port, ...(localAddress !== undefined && { localAddress }) };
    let dialogue = await (isSecure
      ? this.#begin(() => connectTls({ ...address, ...this.#tlsOptions() }), 'secureConnect')
      : this.#begin(() => connectTcp(address), 'connect'));
    const greeting = dialogue.read(this.#server.greetingTimeoutMs ?? this.#replyTimeoutMs);
    await expectReply(greeting, isPositive, 'the connection');
    let extensions = await this.#hello(dialogue);
    if (this.#wantsTls(extensions)) {
      dialogue = await this.#startTls(dialogue);
      extensions = await this.#hello(dialogue);
      this.isUpgrading = false;
    }
    this.#checkTls(dialogue.socket);
    if (auth) this.#checkLogin(dialogue.socket);
    const offered = extensions.get('AUTH');
    const isLoggedIn = auth !== undefined && offered !== undefined;
    if (isLoggedIn) await logIn(dialogue, auth, offered, this.#replyTimeoutMs);
    const socket = dialogue.release();
    return { socket, capabilities: capabilitiesOf(extensions), isLoggedIn, isInClear: this.#isInClear(socket) };
  }

  /** Waits until a socket is connected. */
  async #begin(connect: () => Socket, ready: 'connect' | 'secureConnect'): Promise<Dialogue> {
    const timeoutMs = this.#server.connectionTimeoutMs ?? CONNECTION_TIMEOUT_MS;
    const socket = connect();
    this.#socket = socket;
    const timer = setTimeout(() => {
      socket.destroy(new ConnectionFault('ETIMEDOUT', 'the connection took too long'));
    }, timeoutMs);
    const closed = (): void => {
      socket.emit('error', new ConnectionFault('ECONNECTION', 'the server closed the connection'));
    };
    socket.once('close', closed);
    try {
      if (this.#signal.aborted) throw new ConnectionFault('EABORTED', 'the connection is not needed any more');
      await once(socket, ready);
    } finally {
      clearTimeout(timer);
      socket.off('close', closed);
    }
    socket.setNoDelay(true);
    return new Dialogue(socket);
  }

  #tlsOptions() {
    const { host, tls } = this.#server;
    return { ...(isIP(host) === 0 && { servername: host }), host, ...tls };
  }

  async #hello(dialogue: Dialogue): Promise<Extensions> {
    const name = this.#server.name ?? ownName();
    const answered = dialogue.ask(`EHLO ${name}`, this.#replyTimeoutMs);
    const response = await answered;
    const code = replyCodeOf(response);
    if (code !== undefined && isPositive(code)) return readExtensions(response);
    // RFC 5321 section 3.2. After any refusal but 421 the server is as before (section 4.1.4), but HELO offers no login.
    const isUnknown = code === 500 || code === 502;
    const mayHelo = isUnknown || (code !== undefined && code !== 421 && !this.#server.auth);
    const helo = mayHelo ? await dialogue.ask(`HELO ${name}`, this.#replyTimeoutMs).catch(() => '') : '';
    // Where HELO does not help, the words to EHLO say why.
    if (!isPositive(replyCodeOf(helo) ?? 0)) await expectReply(answered, isPositive, 'EHLO');
    return new Map();
  }

  #wantsTls(extensions: Extensions): boolean {
    const { isSecure, startTls } = this.#server;
    if (isSecure || startTls === 'never') return false;
    return startTls === 'required' || extensions.has('STARTTLS');
  }

  /**
   * Upgrades to TLS (RFC 3207). Where the server refuses and the connection may stay unencrypted, it stays as it is; the
   * next EHLO tells whether the server goes on.
   */
  async #startTls(dialogue: Dialogue): Promise<Dialogue> {
    this.isUpgrading = true;
    const response = await dialogue.ask('STARTTLS', this.#replyTimeoutMs);
    if (parseSmtpReply(response)?.replyCode !== 220) {
      if (this.#server.startTls === 'attempted') return dialogue;
      await expectReply(Promise.resolve(response), (code) => code === 220, 'STARTTLS');
    }
    const socket = dialogue.release();
    // Errors of this socket now appear as errors of the TLS connection over it.
    socket.on('error', () => undefined);
    return this.#begin(() => connectTls({ socket, ...this.#tlsOptions() }), 'secureConnect');
  }

  #isInClear(socket: Socket): boolean {
    if (socket instanceof TLSSocket) return false;
    return !isLoopback(this.#server.host) && !isLoopback(socket.remoteAddress ?? '');
  }

  /**
   * Somebody in between may have removed STARTTLS from the reply to EHLO, to read the messages.
   * @throws ConnectionFault EINSECURE
   */
  #checkTls(socket: Socket): void {
    if (socket instanceof TLSSocket || mayGoInClear(this.#server, socket.remoteAddress ?? '')) return;
    throw new ConnectionFault(
      'EINSECURE',
      'messages would go over the internet in clear, for the server offers no TLS; requireTLS=false in SMTP_URL permits it',
    );
  }

  /**
   * A login goes out over TLS, to this machine, or where the operator permits it. Otherwise the connection fails even
   * if the server offers no AUTH: somebody in between may have removed AUTH and STARTTLS, and messages must not go in
   * clear where a login was meant to protect them.
   * @throws ConnectionFault EINSECUREAUTH
   */
  #checkLogin(socket: Socket): void {
    if (this.#server.allowsInsecureAuth || !this.#isInClear(socket)) return;
    throw new ConnectionFault(
      'EINSECUREAUTH',
      'the login would go out in clear, for the server offers no TLS; allowInsecureAuth=true in SMTP_URL permits it',
    );
  }
}

/** The text without the credentials, which a server may repeat. */
function withoutSecrets(text: string, auth: SmtpServerOptions['auth']): string {
  if (!auth) return text;
  const secrets = [auth.pass, auth.user, `\0${auth.user}\0${auth.pass}`];
  const encoded = secrets.map((secret) => Buffer.from(secret).toString('base64'));
  let masked = text;
  for (const secret of [...secrets, ...encoded]) {
    if (secret !== '') masked = masked.replaceAll(secret, '***');
  }
  return masked;
}

/**
 * Connects to a server until it can take messages: TLS, greeting, EHLO, STARTTLS, login.
 * @throws SmtpUnavailableError when there is no usable connection, or `signal` is aborted
 */
export async function openSmtpConnection(server: SmtpServerOptions, signal: AbortSignal): Promise<SmtpConnection> {
  const opening = new Opening(server, signal);
  try {
    return await opening.run();
  } catch (error) {
    const { code, message, response } = toFault(error);
    const name = server.exchange ?? server.label;
    throw new SmtpUnavailableError(`SMTP server ${name}: ${withoutSecrets(message, server.auth)}`, {
      code,
      hasTlsFailed: opening.isUpgrading,
      ...(response !== undefined && { response: withoutSecrets(printableReply(response), server.auth) }),
    });
  }
}
