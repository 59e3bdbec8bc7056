import { describe, expect, it } from '@jest/globals';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { parseCodecKeys, type CodecKey } from './codec-keys.ts';
import { readConfig } from './config.ts';
import { decodeHistoryJson, payloadFromJson, payloadToJson } from './payload-json.ts';
import { createPayloadCodec } from './temporal-codec.ts';

const keyText = (octet: number) => Buffer.alloc(32, octet).toString('base64');
const keysOf = (text: string) => parseCodecKeys(text) as [CodecKey, ...CodecKey[]];
const codec = createPayloadCodec(keysOf(`a:${keyText(1)}`));
const payload = defaultPayloadConverter.toPayload({ projectId: 'readable' });

describe('parseCodecKeys', () => {
  it('reads ids and keys, of which the first one encrypts', () => {
    const keys = parseCodecKeys(`2026-11:${keyText(1)}, old.key:${keyText(2)},`);
    expect(keys.map(({ id, key }) => [id, key.length])).toEqual([
      ['2026-11', 32],
      ['old.key', 32],
    ]);
    expect(parseCodecKeys('')).toEqual([]);
  });

  it.each([
    ['no id', keyText(1), 'id:key pairs'],
    ['a short key', 'a:c2hvcnQ=', 'the key "a" has 5 octets, not 32'],
    ['one id twice', `a:${keyText(1)},a:${keyText(2)}`, 'names one id twice'],
    ['too many', Array.from({ length: 11 }, (_, index) => `k${index}:${keyText(index)}`).join(), 'at most 10'],
  ])('refuses %s and shows no key', (_name, text, message) => {
    const environment = { DATABASE_URL: 'postgres://h/d', APP_SECRET: 'x'.repeat(32), TEMPORAL_CODEC_KEYS: text };
    expect(() => readConfig(environment)).toThrow(`TEMPORAL_CODEC_KEYS: `);
    expect(() => readConfig(environment)).toThrow(message);
    expect(() => readConfig(environment)).not.toThrow(keyText(1));
  });
});

describe('createPayloadCodec', () => {
  it('encrypts content and type, differently each time, and decrypts them', async () => {
    const encoded = await codec.encode([payload, payload]);
    expect(JSON.stringify(encoded.map(payloadToJson))).not.toContain(payloadToJson(payload).data);
    for (const each of encoded) {
      expect(Buffer.from(each.data ?? []).toString('latin1')).not.toContain('readable');
      expect(Buffer.from(each.metadata?.['encoding'] ?? []).toString()).toBe('binary/encrypted');
    }
    expect(encoded[0]?.data).not.toEqual(encoded[1]?.data);
    const decoded = await codec.decode(encoded);
    expect(decoded.map((each) => defaultPayloadConverter.fromPayload(each))).toEqual([
      { projectId: 'readable' },
      { projectId: 'readable' },
    ]);
  });

  it('leaves payloads that are not encrypted as they are', async () => {
    expect(await codec.decode([payload])).toEqual([payload]);
  });

  it('encrypts with the new key and decrypts with the old one, in a rotation', async () => {
    const rotated = createPayloadCodec(keysOf(`b:${keyText(2)},a:${keyText(1)}`));
    const old = await codec.encode([payload]);
    expect((await rotated.decode(old)).map(payloadToJson)).toEqual([payloadToJson(payload)]);
    await expect(codec.decode(await rotated.encode([payload]))).rejects.toThrow(
      'encrypted with the key "b", which TEMPORAL_CODEC_KEYS does not name',
    );
  });

  it('refuses a payload of another key with the same id, and an altered payload', async () => {
    const [encoded] = await codec.encode([payload]);
    const wrong = createPayloadCodec(keysOf(`a:${keyText(9)}`));
    await expect(wrong.decode([encoded!])).rejects.toThrow('the key "a" of TEMPORAL_CODEC_KEYS is not the one');
    const altered: Payload = { ...encoded, data: Buffer.from(encoded?.data ?? []).subarray(0, 20) };
    await expect(codec.decode([altered])).rejects.toThrow('cannot be decrypted');
  });
});

describe('decodeHistoryJson', () => {
  it('decrypts payloads at any depth and restores the messages of failures', async () => {
    const attributes = defaultPayloadConverter.toPayload({ message: 'The step failed', stack_trace: 'at x' });
    const [input, encodedAttributes] = (await codec.encode([payload, attributes])).map(payloadToJson);
    const history = {
      events: [
        { eventId: '1', input: { payloads: [input, payloadToJson(payload)] } },
        { failure: { message: 'Encoded failure', encodedAttributes, cause: { message: 'plain' } } },
      ],
    };
    expect(await decodeHistoryJson(history, codec)).toEqual({
      events: [
        { eventId: '1', input: { payloads: [payloadToJson(payload), payloadToJson(payload)] } },
        { failure: { message: 'The step failed', stackTrace: 'at x', cause: { message: 'plain' } } },
      ],
    });
    expect(payloadToJson(payloadFromJson(payloadToJson(payload)))).toEqual(payloadToJson(payload));
  });
});
