import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cpuMsOf } from '../../../tests/support/cpu-time.ts';
import { readWhole } from '../../../tests/support/import-rows.ts';
import { readColumnMapping, readHeader } from './import-header.ts';

const MANY_ROWS = 100_000;
/** They took twice as long when each made an error with a stack, and take a seventh without. */
const MANY_ROWS_CPU_MS_MAX = 900;

const mappings = (map: string[]) => map.map((each) => readColumnMapping(each)!);
const read = (content: string | Buffer, ...map: string[]) => readWhole(Buffer.from(content as string), mappings(map));
const becomes = (header: string, ...map: string[]) =>
  readHeader(header.split(','), mappings(map)).report.map((column) => column.becomes);

/** The rows with parsed data. Rows that can be stored have no row number here. */
async function rowsOf(content: string | Buffer, ...map: string[]): Promise<unknown[]> {
  const { rows } = await read(content, ...map);
  return rows.map((row) =>
    row !== null && 'data' in row ? contact(row.email, JSON.parse(row.data), row.subscribed) : row,
  );
}

/** What a file of one row says: 'left', the subscription, or the sentence that refuses the file. */
async function standingOf(header: string, row: string): Promise<unknown> {
  try {
    const [first] = (await read(`${header}\n${row}`)).rows;
    if (!first || 'error' in first) return first;
    return first.hasLeft ? 'left' : first.subscribed;
  } catch (error) {
    return (error as Error).message;
  }
}

const contact = (email: string, data: object = {}, subscribed?: boolean) => ({ email, subscribed, data });

describe('an import file', () => {
  it.each([
    ['columns in any order and case', 'Plan, SUBSCRIBED ,eMail\npro,true,A@x.test\n'],
    ['CRLF', 'email,subscribed,Plan\r\nA@x.test,true,pro\r\n'],
    ['CR', 'email,subscribed,Plan\rA@x.test,true,pro\r'],
    ['a byte order mark', '\uFEFFemail,subscribed,Plan\nA@x.test,true,pro'],
    ['quoting', '"email","subscribed","Plan"\n" a@x.test ","true","pro"'],
    ['blank lines', 'email,subscribed,Plan\n\nA@x.test,true,pro\n,,\n\n'],
    ['columns without a name', 'email,,subscribed,Plan,\nA@x.test,zz,true,pro,zz'],
    ['semicolons', 'email;subscribed;Plan\nA@x.test;true;pro'],
    ['tabs', 'email\tsubscribed\tPlan\nA@x.test\ttrue\tpro'],
    ['the line that tells Excel its separator', 'sep=;\r\nemail;subscribed;Plan\r\nA@x.test;true;pro'],
    ['another name for the address', 'E-Mail Address,subscribed,Plan\nA@x.test,true,pro'],
    ['a blank line before the header', '\nemail,subscribed,Plan\nA@x.test,true,pro'],
    ['columns that are reserved', 'email,id,svc_id,subscribed,Plan\nA@x.test,1,2,yes,pro'],
  ])('is read with %s, with and without quotes', async (_what, content) => {
    const isQuoted = content.includes('"');
    for (const written of [content, isQuoted ? content : content.replace('pro', '"pro"')]) {
      expect(await rowsOf(written)).toEqual([contact('a@x.test', { Plan: 'pro' }, true)]);
    }
  });

  it.each(['\n', '\r\n', '\r'])('is read the same with and without quotes when %j ends its lines', async (end) => {
    const lines = [
      'email,a,b',
      'x@x.test,1,',
      ',,',
      '',
      'y@x.test,\u00e9 2',
      'z@x.test,other\nend,\rmore',
      'w@x.test',
      '',
    ];
    const content = lines.join(end);
    const quoted = content.replace('email', '"email"');
    expect(await read(content)).toEqual(await read(quoted));
    expect((await read(content)).rows.length).toBeGreaterThanOrEqual(4);
  });

  it('keeps separators, quotes and line ends inside of quotes', async () => {
    expect(await rowsOf('email,note\na@x.test,"one, ""two""\r\nthree"\n')).toEqual([
      contact('a@x.test', { note: 'one, "two"\r\nthree' }),
    ]);
  });

  it('has numbers and booleans, and keeps look-alikes as text', async () => {
    const cells: [string, unknown][] = [
      ['42', 42],
      ['-3.50', -3.5],
      [' 7 ', 7],
      ['0', 0],
      ['TRUE', true],
      ['false', false],
      ['007', '007'],
      ['+491701234567', '+491701234567'],
      ['1e5', '1e5'],
      ['1,5', '1,5'],
      ['12345678901234567890', '12345678901234567890'],
      ['0.1234567890123456', '0.1234567890123456'],
      ['NaN', 'NaN'],
      ['null', 'null'],
      ['yes', 'yes'],
      ['2026-01-02', '2026-01-02'],
      ['  text ', '  text '],
      ['Ünïcödé 🎉', 'Ünïcödé 🎉'],
      ['{"city": "Graz", "tags": ["a"], "n": null}', { city: 'Graz', tags: ['a'], n: null }],
      [' [1, "b"] ', [1, 'b']],
      ['{}', {}],
      ['{city: Graz}', '{city: Graz}'],
      ['{"a": "\\u0000"}', '{"a": "\\u0000"}'],
      ['{"a": "\\ud800"}', '{"a": "\\ud800"}'],
      [`${'['.repeat(200)}${']'.repeat(200)}`, `${'['.repeat(200)}${']'.repeat(200)}`],
    ];
    const quoted = (cell: string): string => `"${cell.replaceAll('"', '""')}"`;
    const content = `email,value\n${cells.map(([cell], i) => `c${i}@x.test,${quoted(cell)}`).join('\n')}`;
    expect(await rowsOf(content)).toEqual(cells.map(([, value], i) => contact(`c${i}@x.test`, { value })));
  });

  it('leaves a field out for an empty or missing cell', async () => {
    expect(await rowsOf('email,subscribed,plan,age\na@x.test,, ,\nb@x.test\n')).toEqual([
      contact('a@x.test'),
      contact('b@x.test'),
    ]);
  });

  it.each([
    ['true', true],
    ['YES', true],
    ['1', true],
    ['False', false],
    ['no', false],
    ['0', false],
    ['', undefined],
  ])('reads %j as subscription', async (cell, subscribed) => {
    expect(await rowsOf(`email,subscribed\na@x.test,${cell}`)).toEqual([contact('a@x.test', {}, subscribed)]);
  });

  it.each<[name: string, header: string, row: string, standing: unknown]>([
    ['listmonk', 'uuid,email,name,attributes,status', 'u,a@x.test,A,,blocklisted', 'left'],
    ['listmonk', 'uuid,email,name,attributes,status', 'u,a@x.test,A,,disabled', 'left'],
    ['listmonk', 'uuid,email,name,attributes,status', 'u,a@x.test,A,,enabled', undefined],
    ['Mailchimp', 'Email Address,First Name,UNSUB_TIME,UNSUB_REASON', 'a@x.test,A,2020-01-02 03:04:05,', 'left'],
    ['Mailchimp', 'Email Address,OPTIN_TIME,CLEAN_TIME', 'a@x.test,2020-01-02 03:04:05,2021-01-02 03:04:05', 'left'],
    ['Mailchimp', 'Email Address,OPTIN_TIME,CONFIRM_TIME', 'a@x.test,2020-01-02 03:04:05,', undefined],
    ['Resend', 'id,email,first_name,last_name,unsubscribed', 'i,a@x.test,A,B,true', 'left'],
    ['Resend', 'id,email,first_name,last_name,unsubscribed', 'i,a@x.test,A,B,false', undefined],
    ['MailerLite', 'Subscriber,Sent,Subscribed,Unsubscribed', 'a@x.test,4,2020-01-02,2021-01-02', 'left'],
    ['MailerLite', 'Subscriber,Sent,Subscribed,Unsubscribed', 'a@x.test,4,2020-01-02,', undefined],
    ['Klaviyo', 'Email,Email Marketing Consent', 'a@x.test,NEVER_SUBSCRIBED', false],
    ['Klaviyo', 'Email,SMS Marketing Consent,Email Marketing Consent', 'a@x.test,UNSUBSCRIBED,SUBSCRIBED', undefined],
    ['Klaviyo', 'Email,Email Suppressions', "a@x.test,['UNSUBSCRIBE']", 'left'],
    ['Klaviyo', 'Email,Email Suppressions', 'a@x.test,[]', undefined],
    ['Hubspot', 'Email,Unsubscribed from all email', 'a@x.test,Yes', 'left'],
    ['Hubspot', 'Email,Email hard bounce reason', 'a@x.test,UNKNOWN_USER', 'left'],
    ['Hubspot', 'Email,Marketing contact status', 'a@x.test,Non-marketing contact', false],
    ['Brevo', 'EMAIL,BLACKLISTED', 'a@x.test,1', 'left'],
    ['ActiveCampaign', 'Email,Status', 'a@x.test,Bounced', 'left'],
    ['another tool', 'email,email_status', 'a@x.test,complained', 'left'],
    ['another tool', 'email,OPTOUT_DATE', 'a@x.test,02/03/2021', 'left'],
    ['another tool', 'email,deleted_at', 'a@x.test,0000-00-00 00:00:00', undefined],
    ['another tool', 'email,accepts_marketing', 'a@x.test,no', false],
    ['another tool', 'email,State', 'a@x.test,CA', undefined],
    ['another tool', 'email,order_status', 'a@x.test,cancelled', undefined],
    ['another tool', 'email,order_status', 'a@x.test,unsubscribed', 'left'],
    ['another tool', 'email,can_receive_email', 'a@x.test,no', false],
    ['another tool', 'email,not_unsubscribed', 'a@x.test,0', false],
    ['another tool', 'email,dont_email', 'a@x.test,✔', 'left'],
    ['another tool', 'email,list_1_status', 'a@x.test,removed', 'left'],
    ['another tool', 'email,bounced', 'a@x.test,0000-00-00T00:00:00Z', undefined],
    ['a German file', 'email,Ausgetragen am', 'a@x.test,04.03.2021', 'left'],
    ['a German file', 'email,state', 'a@x.test,nicht mehr angemeldet', false],
    ['a Spanish file', 'email,Suscrito', 'a@x.test,no', false],
    ['a Spanish file', 'email,Fecha de suscripción', 'a@x.test,2021-03-04', undefined],
    ['a French file', 'email,Liste des abonnés', 'a@x.test,A', undefined],
    ['a Portuguese file', 'email,Bloqueado', 'a@x.test,sim', 'left'],
    ['a Dutch file', 'email,status', 'a@x.test,Verwijderd', 'left'],
    ['an Italian file', 'email,unsubscribed', 'a@x.test,falso', undefined],
    ['a file with a second address', 'email,Mailing address', 'a@x.test,Main Street 1', undefined],
    ['a file of ours', 'email,subscribed,blocked', 'a@x.test,true,yes', 'left'],
    ['a file of ours', 'email,subscribed,status', 'a@x.test,true,premium', true],
  ])('knows who has left by a row of %s: %s / %s', async (_tool, header, row, standing) => {
    expect(await standingOf(header, row)).toEqual(standing);
  });

  it.each([
    ['email,status', 'a@x.test,premium', 'Row 2 has "premium" in the column "status", which leaves open'],
    ['email,cancelled_at', 'a@x.test,2021-03-04', 'which leaves open whether'],
    ['email,opt_in', 'a@x.test,2', 'add a column "subscribed" with true or false'],
    ['email,bounce_count', 'a@x.test,3', 'or send map=bounce_count:data.bounce_count'],
  ])('is refused when it leaves open who is subscribed: %s / %s', async (header, row, sentence) => {
    expect(await standingOf(header, row)).toMatch(sentence);
    const column = header.split(',')[1] ?? '';
    expect(await rowsOf(`${header}\n${row}`, `${column}:ignored`)).toEqual([contact('a@x.test')]);
  });

  it('does not subscribe somebody who has left, in any order, case, quoting and separator', async () => {
    const cellsOf = (header: string, words: string) =>
      header.split('|').flatMap((column) => words.split('|').map((word) => [column, word] as const));
    const exports = {
      Mailchimp: ['Email Address', cellsOf('UNSUB_TIME|CLEAN_TIME', '2021-02-03 04:05:06')],
      listmonk: ['email', cellsOf('status|subscription_status', 'blocklisted|disabled|unsubscribed')],
      SendGrid: ['email', cellsOf('global_unsubscribes|bounces|spam_reports', '1612325106|true')],
      Brevo: ['EMAIL', cellsOf('BLACKLISTED|EMAIL_BLACKLISTED|OPT_OUT|UNSUBSCRIBED', '1|true|yes')],
      MailerLite: ['Subscriber', cellsOf('Unsubscribed|Unsubscribe date', '2021-02-03 04:05:06')],
      Klaviyo: ['Email', cellsOf('Email Marketing Consent|Email Marketing', 'UNSUBSCRIBED|NEVER_SUBSCRIBED')],
      HubSpot: ['Email', cellsOf('Unsubscribed from all email|Opted out of email: News', 'Yes|true')],
      ActiveCampaign: ['Email', cellsOf('Status|List status', 'Unsubscribed|Bounced')],
      Mautic: ['email', cellsOf('dnc|do_not_contact|Do not contact', '1|bounced|unsubscribed|manual')],
      Plunk: ['email', cellsOf('subscribed', 'false|no|0|unsubscribed')],
      Resend: ['email', cellsOf('unsubscribed', 'true')],
      ConvertKit: ['email', cellsOf('status|state|subscriber_state', 'cancelled|bounced|complained|inactive')],
      Beehiiv: ['Email', cellsOf('Status|Subscription status', 'inactive|unsubscribed|invalid|pending')],
      Substack: ['Email', cellsOf('email_disabled|Email disabled', 'true|TRUE')],
      Ghost: ['email', cellsOf('subscribed_to_emails', 'false|no')],
      Shopify: ['Email', cellsOf('Accepts Email Marketing|accepts_marketing', 'no|FALSE')],
    } as const;
    const extras = cellsOf(
      'First Name|City|Plan|order_status|Note|Last active',
      'Jo|Graz|active|3|2020-01-01|subscribed',
    );
    const tool = fc.constantFrom(...Object.values(exports));
    const recase = fc.constantFrom(
      String,
      (text: string) => text.toLowerCase(),
      (text: string) => text.toUpperCase(),
    );
    const scene = fc.tuple(
      tool,
      fc.nat(),
      fc.uniqueArray(fc.constantFrom(...extras), { selector: ([column]) => column }),
    );
    const writing = fc.record({ at: fc.nat(), emailAt: fc.nat(), recase, separator: fc.constantFrom(',', ';', '\t') });
    await fc.assert(
      fc.asyncProperty(scene, writing, fc.boolean(), async ([[email, left], pick, others], how, isQuoted) => {
        const columns: (readonly [string, string])[] = [...others];
        const [column, word] = left[pick % left.length]!;
        columns.splice(how.at % (columns.length + 1), 0, [how.recase(column), how.recase(word)]);
        columns.splice(how.emailAt % (columns.length + 1), 0, [how.recase(email), 'a@x.test']);
        const line = (index: 0 | 1) =>
          columns.map((each) => (isQuoted ? `"${each[index]}"` : each[index])).join(how.separator);
        const { rows } = await read(`${line(0)}\n${line(1)}\n`);
        expect(rows).toEqual([expect.objectContaining({ email: 'a@x.test', subscribed: false })]);
      }),
      { numRuns: 1_000 },
    );
  });

  it('does not subscribe somebody who has left by any row of it', async () => {
    const rows = ['a@x.test,true,', 'A@x.test,true,2020-01-01', 'a@x.test,true,', 'b@x.test,true,'];
    const { rows: read2 } = await read(`email,subscribed,unsubscribed_at\n${rows.join('\n')}`);
    expect(read2.map((row) => row && 'data' in row && row.subscribed)).toEqual([false, false, false, true]);
  });

  it('says what each column becomes', () => {
    expect(becomes('uuid,email,status,,id,Plan,UNSUB_TIME,OPTIN_TIME')).toEqual([
      'data.uuid',
      'email',
      'subscribed',
      'ignored',
      'ignored',
      'data.Plan',
      'subscribed',
      'data.OPTIN_TIME',
    ]);
    expect(becomes('email,subscribed,status')).toEqual(['email', 'subscribed', 'data.status']);
    const mapped = becomes('who,mail,Plan,state', 'who:email', 'plan:data.tier', 'mail:ignore', 'state:subscribed');
    expect(mapped).toEqual(['email', 'ignored', 'data.tier', 'subscribed']);
  });

  it('takes the column that the caller names', async () => {
    const row = 'a@x.test,b@x.test,no';
    expect(await rowsOf(`from:,to,Wanted\n${row}`, 'from::email', 'Wanted:subscribed')).toEqual([
      contact('a@x.test', { to: 'b@x.test' }, false),
    ]);
    expect(await rowsOf(`email,Unsubscribed\na@x.test,yes`, 'Unsubscribed:subscribed')).toEqual([
      contact('a@x.test', {}, false),
    ]);
  });

  it('reports rows that cannot be stored, counted as a spreadsheet does', async () => {
    const content =
      'email,subscribed\n' +
      'a@x.test,true\n' +
      'nonsense,true\n' +
      ',true\n' +
      'b@x.test,maybe\n' +
      'c@x.test,true,more\n' +
      'd@x.test,"\0"\n' +
      'e@x.test,no\n' +
      'jörg@xn--ü.test,true\n';
    expect(await rowsOf(content)).toEqual([
      contact('a@x.test', {}, true),
      { row: 3, email: 'nonsense', error: 'The row has no valid email address' },
      { row: 4, email: null, error: 'The row has no email address' },
      { row: 5, email: 'b@x.test', error: 'The row has a value for "subscribed" that is neither true nor false' },
      { row: 6, email: 'c@x.test', error: 'The row has 3 cells, but the header has 2' },
      { row: 7, email: 'd@x.test', error: 'The row has a value for "subscribed" that is neither true nor false' },
      contact('e@x.test', {}, false),
      { row: 9, email: 'jörg@xn--ü.test', error: expect.stringContaining('no email can be sent to') },
    ]);
    expect(await rowsOf('email,a\na@x.test,"x\0"')).toEqual([
      { row: 2, email: 'a@x.test', error: 'The row contains the NUL character' },
    ]);
  });

  it('reports a line of megabytes with too many cells without counting them', async () => {
    const row = { row: 2, email: 'a@x.test', error: 'The row has more than 500 cells, but the header has 2' };
    expect(await rowsOf(`email,b\na@x.test,${','.repeat(1_000_000)}\nb@x.test,1`)).toEqual([
      row,
      contact('b@x.test', { b: 1 }),
    ]);
  });

  it('refuses a row with more data than a contact may hold, and keeps its fields out of the catalogue', async () => {
    const { rows, firstValues } = await read(`email,a,b\na@x.test,${'x'.repeat(65_536)},\nb@x.test,,y\n`);
    expect(rows).toEqual([
      { row: 2, email: 'a@x.test', error: 'The row has more than 65536 bytes of custom data' },
      { row: 3, ...contact('b@x.test'), data: '{"b":"y"}' },
    ]);
    expect({ ...firstValues }).toEqual({ b: 'y' });
  });

  it('has the first value of each field among the rows that can be stored', async () => {
    const { firstValues } = await read('email,a,b,toString\nbad,text,,\na@x.test,5,,x\nb@x.test,text,true,y\n');
    expect(Object.entries(firstValues).sort()).toEqual([
      ['a', 5],
      ['b', true],
      ['toString', 'x'],
    ]);
    const [row] = await rowsOf('email,constructor,prototype\na@x.test,x,y');
    expect(row).toEqual({ ...contact('a@x.test'), data: { constructor: 'x', prototype: 'y' } });
  });

  it('refuses the key __proto__, and takes the column under another name', async () => {
    await expect(rowsOf('email,__proto__\na@x.test,x')).rejects.toThrow('map=__proto__:ignored');
    const rows = await rowsOf('email,data.*\na@x.test,"{""__proto__"":1,""a"":2}"\n');
    expect(rows).toEqual([expect.objectContaining({ error: expect.stringContaining('"data.*"') })]);
    expect(readColumnMapping('a:__proto__')).toBeUndefined();
    expect(readColumnMapping('a:data.__proto__')).toBeUndefined();
    expect(await rowsOf('email,__proto__\na@x.test,x', '__proto__:data.proto')).toEqual([
      { ...contact('a@x.test'), data: { proto: 'x' } },
    ]);
  });

  it.each([
    ['', 'The file is empty'],
    ['\uFEFF', 'The file is empty'],
    ['plan,name\na,b\n', 'The header has no column "email"'],
    ['a@x.test\nb@x.test\n', 'The header has no column "email"'],
    ['email,EMAIL\na@x.test,b@x.test', 'The header names the column "email" twice'],
    ['email,plan,plan\n', 'The header names the column "plan" twice'],
    [`email,${'x'.repeat(201)}\n`, 'The name of column 2 is longer than 200 characters'],
    [`email${',x'.repeat(500)}\n`, 'The header has more than 500 columns'],
    ['email\n"a@x.test\nb@x.test\n', 'The file is not valid CSV: a quoted cell is never closed'],
    [
      'email,a\na@x.test,"x"y\n',
      'The file is not valid CSV: a quoted cell continues after its closing quote on line 2',
    ],
    ['email,a\na@x.test,x"y\n', 'The file is not valid CSV: a cell that is not quoted contains a quote on line 2'],
    [Buffer.from('email\na@x.test,\xe4\n', 'latin1'), 'The file is not text in UTF-8 or UTF-16'],
    ['mail,Email Address\na@x.test,b@x.test', 'choose one with map=mail:email'],
  ])('is refused: %j', async (content, reason) => {
    await expect(read(content)).rejects.toThrow(reason);
  });

  it.each([
    ['who:email', 'The file has no column "who", which map names'],
    ['a:email,b:email', 'map names two columns that become "email"'],
    ['email:data.x,b:x,a:email', 'The columns "b" and "email" both become data.x'],
    ['a:email,A:ignored', 'map names the column "a" twice'],
  ])('is refused with the map %s', async (map, reason) => {
    await expect(read('a,b,email\n1,2,3', ...map.split(','))).rejects.toThrow(reason);
  });

  it('of 5 MB that is made to be expensive is read or refused', async () => {
    const bytes = 5 * 1024 * 1024;
    expect((await read(`email,a\n${',\n'.repeat(bytes / 2 - 4)}`)).rows).toEqual([]);
    await expect(read(`email\n"${'x'.repeat(bytes - 10)}`)).rejects.toThrow('never closed');
    expect((await read(`email\n${','.repeat(bytes - 10)}`)).rows).toHaveLength(1);
    expect((await read(`email\n${'a@b.co\n'.repeat(700_000)}`)).rows).toHaveLength(700_000);
  });

  it.each(['a@x.test,b\n', '\n', '""\n', 'a@x.test\n', 'a@x.test,b,c\n'])(
    'takes little CPU time for many rows %j, of as many cells as the header or not',
    async (row) => {
      const content = Buffer.from(`email,plan\n${row.repeat(MANY_ROWS)}`);
      expect(await cpuMsOf(() => readWhole(content))).toBeLessThan(MANY_ROWS_CPU_MS_MAX);
    },
  );
});
