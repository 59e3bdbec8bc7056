import { describe, expect, it } from '@jest/globals';
import { parseSmtpUrl } from './smtp-url.ts';

describe('parseSmtpUrl', () => {
  it('reads host, port, login and options', () => {
    const url =
      'smtp://us%40er:p%3Aass@mail.example.com:2525?name=out.example.com&requireTLS=true&tls.rejectUnauthorized=false&socketTimeout=5000&debug=true&logger=true';
    expect(parseSmtpUrl(url)).toEqual({
      label: 'mail.example.com:2525',
      ...{ host: 'mail.example.com', port: 2525, name: 'out.example.com' },
      ...{ isSecure: false, startTls: 'required', allowsInsecureAuth: false },
      replyTimeoutMs: 5000,
      tls: { rejectUnauthorized: false },
      auth: { user: 'us@er', pass: 'p:ass' },
    });
  });

  it('knows the default ports and IPv6', () => {
    expect(parseSmtpUrl('smtps://mail.example.com')).toMatchObject({ label: 'mail.example.com:465', isSecure: true });
    expect(parseSmtpUrl('smtp://mail.example.com')).toMatchObject({
      label: 'mail.example.com:587',
      startTls: 'offered',
    });
    expect(parseSmtpUrl('smtp://[::1]:2525')).toMatchObject({ label: '[::1]:2525', host: '::1' });
  });

  it('refuses a login that could only go out in clear, unless the URL permits it', () => {
    const url = 'smtp://user:secret@mail.example.com?ignoreTLS=true';
    expect(() => parseSmtpUrl(url)).toThrow(/allowInsecureAuth=true/);
    expect(parseSmtpUrl(`${url}&allowInsecureAuth=true`)).toMatchObject({
      startTls: 'never',
      allowsInsecureAuth: true,
    });
    expect(parseSmtpUrl('smtp://user:secret@127.0.0.1?ignoreTLS=true')).toMatchObject({ startTls: 'never' });
  });

  it.each(['', 'mail.example.com', 'http://user:secret@x', 'smtp://', 'smtp://user:secret@:bad port'])(
    'refuses %j without repeating it',
    (url) => {
      expect(() => parseSmtpUrl(url)).toThrow(/^An SMTP URL has the form/);
    },
  );
});
