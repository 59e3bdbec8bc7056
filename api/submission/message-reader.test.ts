import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { SMTPServerDataStream } from 'smtp-server';
import type { Load } from '../http/load.ts';
import { createLineEnds, readMessage } from './message-reader.ts';

/** Reads from a stream, with memory that is given when the test says so. */
function read(bytesMax = 1_000_000) {
  const stream = new PassThrough() as unknown as PassThrough & SMTPServerDataStream;
  const memory = { held: 0, give: (): void => undefined };
  const take = (_project: string, octets: number) =>
    new Promise<() => void>((resolve) => {
      memory.give = () => {
        memory.held += octets;
        resolve(() => (memory.held -= octets));
      };
    });
  const octets = { take } as unknown as Load['octets'];
  const message = readMessage(stream, { projectId: 'p', octets, bytesMax, announced: 0 });
  message.catch(() => undefined);
  return { stream, memory, message };
}

const LARGE = Buffer.alloc(100_000, 'x');
const pass = () => new Promise((resolve) => setImmediate(resolve));

describe('the line ends of a message', () => {
  it('are CRLF however its octets are cut, and stay when they are', () => {
    const text = fc
      .array(fc.constantFrom('a', '\r', '\n', '\r\n', '.'), { maxLength: 40 })
      .map((parts) => parts.join(''));
    const cuts = fc.array(fc.nat(40), { maxLength: 6 });
    fc.assert(
      fc.property(text, cuts, (whole, at) => {
        const inCrlf = createLineEnds();
        const edges = [0, ...at.filter((cut) => cut <= whole.length).sort((a, b) => a - b), whole.length];
        const pieces = edges.slice(1).map((edge, index) => inCrlf(Buffer.from(whole.slice(edges[index], edge))));
        const converted = Buffer.concat([...pieces, inCrlf(undefined)]).toString();
        expect(converted).toBe(whole.replace(/\r\n|\r|\n/g, '\r\n'));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('a message', () => {
  it('waits in its stream for memory, and gives it back', async () => {
    const { stream, memory, message } = read();
    stream.write('a\n');
    stream.write(LARGE);
    stream.end('\nb');
    await pass();
    memory.give();
    const { raw, isEightBit, release } = await message;
    expect(raw?.toString()).toBe(`a\r\n${LARGE.toString()}\r\nb`);
    expect(isEightBit).toBe(false);
    expect(memory.held).toBeGreaterThan(LARGE.length);
    release();
    expect(memory.held).toBe(0);
  });

  it.each([
    ['hi', false],
    ['grüße', true],
  ])('%j has octets beyond ASCII: %s', async (text, isEightBit) => {
    const { stream, message } = read();
    stream.end(text);
    expect(await message).toMatchObject({ raw: Buffer.from(text), isEightBit });
  });

  it('that breaks off while it waits for memory gives back what it gets', async () => {
    const { stream, memory, message } = read();
    stream.write(LARGE);
    await pass();
    stream.destroy(new Error('gone'));
    await pass();
    memory.give();
    await expect(message).rejects.toThrow('gone');
    expect(memory.held).toBe(0);
  });

  it('that is too large is read to its end, and takes no memory', async () => {
    const { stream, memory, message } = read(1_000);
    for (let part = 0; part < 5; part++) stream.write(LARGE);
    stream.end();
    expect(await message).toMatchObject({ raw: undefined });
    expect(memory.held).toBe(0);
  });
});
