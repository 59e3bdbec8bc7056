import { describe, expect, it } from '@jest/globals';
import { mayGoInClear, parseSmtpUrl, withUniqueNames } from './smtp-url.ts';

describe('parseSmtpUrl', () => {
  it('reads host, port, login and options', () => {
    const url =
      'smtp://us%40er:p%3Aass@mail.example.com:2525?name=out.example.com&requireTLS=true&tls.rejectUnauthorized=false&socketTimeout=5000';
    expect(parseSmtpUrl(url)).toEqual({
      source: { name: 'out.example.com', kind: 'relay', pool: 'default' },
      label: 'mail.example.com:2525',
      host: 'mail.example.com',
      port: 2525,
      name: 'out.example.com',
      isSecure: false,
      startTls: 'required',
      allowsInsecureAuth: false,
      replyTimeoutMs: 5000,
      tls: { rejectUnauthorized: false },
      auth: { user: 'us@er', pass: 'p:ass' },
    });
  });

  it.each([
    ['requireTls=true', 'requireTls in an SMTP URL is unknown; it takes name, pool,'],
    ['requireTLS=yes', 'requireTLS in an SMTP URL is true or false'],
    ['tls.rejectUnauthorized=no', 'tls.rejectUnauthorized in an SMTP URL is true or false'],
    ['source=192.0.2.1', 'source in an SMTP URL is unknown'],
    ['warmup=default', 'warmup in an SMTP URL is unknown'],
    ['socketTimeout=5s', 'socketTimeout in an SMTP URL is a number of milliseconds'],
    ['connectionTimeout=', 'connectionTimeout in an SMTP URL is a number of milliseconds'],
  ])('refuses ?%s, which would have no effect', (query, message) => {
    expect(() => parseSmtpUrl(`smtp://u:secret@a.test?${query}`)).toThrow(message);
    expect(() => parseSmtpUrl(`smtp://u:secret@a.test?${query}`)).not.toThrow('secret');
  });

  it('takes options of Nodemailer that have no effect', () => {
    expect(parseSmtpUrl('smtp://a.test?secure=false&maxConnections=5')).toEqual(parseSmtpUrl('smtp://a.test'));
  });

  it('takes an empty name for none, and port 0 for no port', () => {
    expect(parseSmtpUrl('smtp://a.test?name=').source.name).toBe('a.test');
    expect(() => parseSmtpUrl('smtp://a.test:0')).toThrow('has the form');
  });

  it('names the source by host, or by host and port where a host has several, and reads its pool', () => {
    const named = (...urls: string[]) =>
      withUniqueNames(urls.map(parseSmtpUrl)).map(({ source }) => `${source.name} ${source.pool}`);
    expect(named('smtp://a.test:25?pool=bulk', 'smtp://b.test:25')).toEqual(['a.test bulk', 'b.test default']);
    expect(named('smtp://a.test:25', 'smtp://a.test:26')).toEqual(['a.test:25 default', 'a.test:26 default']);
    const twice = ['smtp://one@a.test:25?pool=x', 'smtp://two@a.test:25?pool=y'];
    expect(named(...twice)).toEqual(['a.test:25/x x', 'a.test:25/y y']);
    expect(named(...twice.map((url, index) => `${url}&name=n${index}`))).toEqual(['n0 x', 'n1 y']);
    expect(() => parseSmtpUrl('smtp://u:secret@a.test?pool=a,b')).toThrow(/^pool in an SMTP URL takes/);
  });

  it('tells the entries of a server in several pools apart, so that mail of a pool goes over no other one', () => {
    const labels = (...urls: string[]) => withUniqueNames(urls.map(parseSmtpUrl)).map(({ label }) => label);
    expect(labels('smtp://one@a.test:25?pool=x', 'smtp://two@a.test:25?pool=y')).toEqual([
      'a.test:25/x',
      'a.test:25/y',
    ]);
    expect(labels('smtp://one@a.test:25', 'smtp://two@a.test:25')).toEqual(['a.test:25', 'a.test:25']);
  });

  it('knows the default ports and IPv6', () => {
    expect(parseSmtpUrl('smtps://mail.example.com')).toMatchObject({ label: 'mail.example.com:465', isSecure: true });
    expect(parseSmtpUrl('smtp://mail.example.com')).toMatchObject({
      label: 'mail.example.com:587',
      startTls: 'expected',
    });
    expect(parseSmtpUrl('smtp://[::1]:2525')).toMatchObject({ label: '[::1]:2525', host: '::1' });
  });

  it('demands TLS on the public internet, unless the URL says otherwise', () => {
    const mayBeClear = (query: string, address: string) =>
      mayGoInClear(parseSmtpUrl(`smtp://mail.example.com${query}`), address);
    const inside = ['127.0.0.1', '10.1.2.3', '172.20.0.4', '192.168.1.1', '100.64.0.1', '169.254.1.1'];
    for (const address of [...inside, '::1', 'fd00::5', 'fe80::1', '::ffff:10.0.0.1']) {
      expect(`${address} ${mayBeClear('', address)}`).toBe(`${address} true`);
      expect(mayBeClear('?requireTLS=true', address)).toBe(false);
    }
    for (const address of ['93.184.216.34', '172.32.0.1', '2606:2800::1', '::ffff:93.184.216.34', '']) {
      expect(`${address} ${mayBeClear('', address)}`).toBe(`${address} false`);
      for (const permit of ['requireTLS=false', 'ignoreTLS=true', 'opportunisticTLS=true', 'allowInsecureAuth=true']) {
        expect(mayBeClear(`?${permit}`, address)).toBe(true);
      }
    }
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
