import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseProxyHeader } from './proxy-header.ts';

const v1 = (text: string) => Buffer.from(text, 'latin1');

function v2({ command = 1, family = 0x11, body = Buffer.alloc(0) } = {}): Buffer {
  const prefix = Buffer.from('\r\n\r\n\0\r\nQUIT\n\0\0\0\0', 'latin1');
  prefix[12] = 0x20 | command;
  prefix[13] = family;
  prefix.writeUInt16BE(body.length, 14);
  return Buffer.concat([prefix, body]);
}
const TCP4_BODY = Buffer.from([192, 0, 2, 7, 198, 51, 100, 1, 0xc0, 0x00, 0, 25]);
const TCP6_BODY = Buffer.concat([
  Buffer.from('20010db8000000000000000000000009', 'hex'),
  Buffer.from('20010db8000000000000000000000001', 'hex'),
  Buffer.from([0x00, 0x50, 0, 25]),
]);

describe('parseProxyHeader', () => {
  it.each([
    ['version 1, IPv4', v1('PROXY TCP4 192.0.2.7 198.51.100.1 49152 25\r\n'), { address: '192.0.2.7', port: 49152 }],
    ['version 1, IPv6', v1('PROXY TCP6 2001:db8::9 2001:db8::1 80 25\r\n'), { address: '2001:db8::9', port: 80 }],
    ['version 1, unknown', v1('PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n'), undefined],
    ['version 2, IPv4', v2({ body: TCP4_BODY }), { address: '192.0.2.7', port: 49152 }],
    ['version 2, IPv6', v2({ family: 0x21, body: TCP6_BODY }), { address: '2001:db8::9', port: 80 }],
    [
      'version 2 with extensions',
      v2({ body: Buffer.concat([TCP4_BODY, Buffer.alloc(40)]) }),
      { address: '192.0.2.7', port: 49152 },
    ],
    ['version 2, a check of the forwarder', v2({ command: 0, family: 0 }), undefined],
    ['version 2, of an unknown family', v2({ family: 0x31, body: Buffer.alloc(216) }), undefined],
  ])('reads %s, wherever the octets are cut', (_name, header, client) => {
    for (let length = 0; length < header.length; length++) {
      expect(parseProxyHeader(header.subarray(0, length))).toEqual({ kind: 'incomplete' });
    }
    const read = parseProxyHeader(Buffer.concat([header, v1('EHLO x\r\n')]));
    expect(read).toEqual({ kind: 'complete', octets: header.length, ...(client && { client }) });
  });

  it.each([
    ['no header', v1('EHLO mx.test\r\n')],
    ['an address that is none', v1('PROXY TCP4 192.0.2.777 198.51.100.1 1 2\r\n')],
    ['a family that does not fit', v1('PROXY TCP4 2001:db8::9 2001:db8::1 1 2\r\n')],
    ['a protocol that is none', v1('PROXY UDP4 192.0.2.7 198.51.100.1 1 2\r\n')],
    ['a line without end', v1(`PROXY TCP4 ${'1'.repeat(200)}`)],
    ['another version', Buffer.concat([v2().subarray(0, 12), Buffer.from([0x31, 0x11, 0, 0])])],
    ['addresses that are too short', v2({ body: TCP4_BODY.subarray(0, 8) })],
    ['extensions without end', v2({ body: Buffer.alloc(2_000) })],
  ])('refuses %s', (_name, octets) => {
    expect(parseProxyHeader(octets)).toEqual({ kind: 'malformed' });
  });

  it('reads any octets without an error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (octets) => {
        expect(['incomplete', 'malformed', 'complete']).toContain(parseProxyHeader(Buffer.from(octets)).kind);
      }),
    );
  });
});
