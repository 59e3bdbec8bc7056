import { describe, expect, it } from '@jest/globals';
import { parseSmtpUrl } from './smtp-url.ts';

describe('parseSmtpUrl', () => {
  it('reads host, port, login and options', () => {
    const url =
      'smtp://us%40er:p%3Aass@mail.example.com:2525?name=out.example.com&requireTLS=true&tls.rejectUnauthorized=false&socketTimeout=5000&debug=true&logger=true';
    expect(parseSmtpUrl(url)).toEqual({
      label: 'mail.example.com:2525',
      connection: {
        secure: false,
        host: 'mail.example.com',
        port: 2525,
        name: 'out.example.com',
        requireTLS: true,
        socketTimeout: 5000,
        tls: { rejectUnauthorized: false },
      },
      auth: { user: 'us@er', pass: 'p:ass' },
    });
  });

  it('knows the default ports and IPv6', () => {
    expect(parseSmtpUrl('smtps://mail.example.com')).toMatchObject({
      label: 'mail.example.com:465',
      connection: { secure: true },
    });
    expect(parseSmtpUrl('smtp://mail.example.com')).toMatchObject({ label: 'mail.example.com:587' });
    expect(parseSmtpUrl('smtp://[::1]:2525')).toMatchObject({ label: '[::1]:2525', connection: { host: '::1' } });
  });

  it.each(['', 'mail.example.com', 'http://user:secret@x', 'smtp://', 'smtp://user:secret@:bad port'])(
    'refuses %j without repeating it',
    (url) => {
      expect(() => parseSmtpUrl(url)).toThrow(/^An SMTP URL has the form/);
    },
  );
});
