import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { cpuMsOf } from '../../tests/support/cpu-time.ts';
import { redactText } from '../pure/redact.ts';
import { createLogger } from './logger.ts';

const ADDRESS = 'ada.lovelace+x@mail.example';
const TOKEN = 'A'.repeat(64);
const ID = '01990000-0000-7000-8000-000000000001';

/** The output of the logger during `write`. */
function logged(write: (logger: ReturnType<typeof createLogger>) => void): { text: string; json: any } {
  let text = '';
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  write(createLogger({ level: 'debug', name: 'test' }, stream));
  return { text, json: JSON.parse(text) };
}

function postgresError(): Error {
  return Object.assign(new Error(`invalid input syntax for type uuid: "${ADDRESS}"`), {
    name: 'error',
    code: '22P02',
    severity: 'ERROR',
    table: 'contact',
    constraint: 'contact_email_key',
    detail: `Key (email)=(${ADDRESS}) already exists.`,
    where: `unnamed portal parameter $1 = '${ADDRESS}'`,
    internalQuery: `select '${ADDRESS}'`,
    parameters: [ADDRESS],
  });
}

describe('a log', () => {
  it('keeps the codes and object names of a PostgreSQL error, and none of its data', () => {
    const { text, json } = logged((logger) => logger.error({ err: postgresError(), contactId: ID }, 'failed'));
    expect(text).not.toContain('ada');
    expect(json).toMatchObject({
      service: 'test',
      contactId: ID,
      msg: 'failed',
      err: { code: '22P02', table: 'contact', constraint: 'contact_email_key', stack: expect.stringContaining('at ') },
    });
  });

  it('contains causes and the parts of an aggregate, and ends when they form a circle', () => {
    const round = new Error('round') as Error & { cause?: unknown };
    round.cause = round;
    const error = new AggregateError([postgresError(), round], `for ${ADDRESS}`, { cause: postgresError() });
    const { text, json } = logged((logger) => logger.error({ err: error }, 'failed'));
    expect(text).not.toContain('ada');
    expect(json.err.cause.code).toBe('22P02');
    expect(json.err.errors).toHaveLength(2);
  });

  it('accepts errors of any shape', () => {
    const hostile = new Proxy(new Error('x'), {
      get() {
        throw new Error(ADDRESS);
      },
    });
    const shapes = [
      hostile,
      null,
      7,
      ADDRESS,
      { message: 1, stack: {} },
      Object.create(null),
      [ADDRESS],
      () => ADDRESS,
    ];
    for (const err of shapes) {
      const { text } = logged((logger) => logger.error({ err }, 'failed'));
      expect(text).not.toContain('ada');
    }
    expect(logged((logger) => logger.error(postgresError())).text).not.toContain('ada');
  });

  it('leaves out the statement and parameters that an ORM puts before a message', () => {
    const error = new Error(`select * from contact where name = 'Ada' - relation "contact" does not exist`);
    const { text, json } = logged((logger) => logger.error({ err: error }, 'failed'));
    expect(text).not.toContain(`'Ada'`);
    expect(json.err.message).toBe('relation "contact" does not exist');
  });

  it('has no hidden field at any depth, and no address in any text or message', () => {
    const fields = {
      authorization: 'Bearer x-secret',
      inner: { deeper: { Subject: 'Ada, your diagnosis', list: [{ email: ADDRESS }, ADDRESS] } },
      reason: `550 <${ADDRESS}> is unknown`,
      path: `/unsubscribe/${TOKEN}?email=ada.lovelace%40mail.example`,
    };
    const { text } = logged((logger) => logger.warn(fields, `no mail for ${ADDRESS}`));
    for (const secret of ['x-secret', 'ada', 'Ada', 'diagnosis', TOKEN]) expect(text).not.toContain(secret);
  });
});

describe('redactText', () => {
  it.each([
    [`550 5.1.1 <${ADDRESS}>: unknown`, '550 5.1.1 <[address]>: unknown'],
    [`orig_to=${ADDRESS} failed`, 'orig_to=[address] failed'],
    ['from <list-bounces+ada.lovelace=mail.example@relay.test>', 'from <[address]>'],
    ['from <SRS0=hash=tt=mail.example=ada.lovelace@relay.test>', 'from <[address]>'],
    ['https://user:pass@host.test/u/x?a=b failed', 'https://host.test failed'],
    ['postgres://u:p@db.test:5432/everpost', 'postgres://db.test:5432'],
    [`execution/${ID} of campaign/${ID}`, `execution/${ID} of campaign/${ID}`],
    ['key sk_0123456789abcdef', 'key [key]'],
    ['keys sk_eu1_0123456789abcdef, pk_eu1_0123456789abcdef', 'keys [key], [key]'],
    [`link ${TOKEN}`, 'link [token]'],
    ['connect ECONNREFUSED 127.0.0.1:25', 'connect ECONNREFUSED 127.0.0.1:25'],
  ])('writes %j as %j', (text, expected) => expect(redactText(text)).toBe(expected));

  it('takes little CPU time for long and odd texts', async () => {
    const cpuMs = await cpuMsOf(() => {
      for (const part of ['a', '@', 'a@', 'http://', '%40', '<a@b', 'a+', 'srs0=']) redactText(part.repeat(200_000));
    });
    expect(cpuMs).toBeLessThan(500);
  });
});
