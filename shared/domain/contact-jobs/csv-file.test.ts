import { expect, it } from '@jest/globals';
import { fileRecords } from './csv-file.ts';
import { readWhole } from '../../../tests/support/import-rows.ts';
import { readSuppressionFile } from './suppression-file.ts';

async function recordsOf(content: string): Promise<string[][]> {
  const records: string[][] = [];
  for await (const some of fileRecords(Buffer.from(content))) records.push(...some);
  return records;
}

it.each(['', '"'])('a file may have different line ends, as files have that were joined (%j)', async (mark) => {
  const content = `email,${mark}plan${mark}\na@x.test,one\r\nb@x.test,two\rc@x.test,three\n\r\nd@x.test,four`;
  expect((await recordsOf(content)).filter(([email]) => email !== '')).toEqual([
    ['email', 'plan'],
    ['a@x.test', 'one'],
    ['b@x.test', 'two'],
    ['c@x.test', 'three'],
    ['d@x.test', 'four'],
  ]);
});

it.each(['email', '"email"'])('no more cells of a line are handed over than one too many (%s)', async (cell) => {
  expect((await recordsOf(`${cell}${',x'.repeat(10_000)}\n`)).map((cells) => cells.length)).toEqual([501]);
});

it('rows of JSON lines have the numbers of their lines', async () => {
  const { rows } = await readWhole(Buffer.from('\n{"email":"a@x.test"}\r\n{"email":"nobody"}'));
  expect(rows.map((row) => row?.row)).toEqual([2, 3]);
});

it.each([
  ['utf-16le', '\uFEFF', 'email;name\na@x.test;Jörg\n'],
  ['utf-16be', '\uFEFF', 'email;name\na@x.test;Jörg\n'],
  ['utf-16le', '', 'email;name\na@x.test;"Jörg"\n'],
  ['utf-16be', '', 'email;name\na@x.test;Jörg\n'],
  ['utf-16le', '\uFEFF', '{"email":"a@x.test","data":{"name":"Jörg"}}\n'],
  ['utf-16be', '', '{"email":"a@x.test","data":{"name":"Jörg"}}\n'],
])('a file is read in %s, after the mark %j: %j', async (encoding, mark, text) => {
  const octets = Buffer.from(mark + text, 'utf16le');
  if (encoding === 'utf-16be') octets.swap16();
  expect((await readWhole(octets)).rows).toMatchObject([{ email: 'a@x.test', data: '{"name":"Jörg"}' }]);
});

it.each(['[1]', '5', '"a"', 'null', '{"email":'])('a line of JSON lines that is %s is refused alone', async (line) => {
  const content = Buffer.from(`{"email":"a@x.test"}\n${line}\n{"email":"b@x.test"}\n`);
  const error = 'The row is not an object in JSON';
  expect((await readWhole(content)).rows).toMatchObject([
    { row: 1, email: 'a@x.test' },
    { row: 2, email: null, error },
    { row: 3, email: 'b@x.test' },
  ]);
  const { suppressed, errors } = await readSuppressionFile(content, []);
  expect([suppressed.length, errors]).toEqual([2, [{ row: 2, email: null, error }]]);
});

it.each(['[{"email":"a@x.test"}]', '[\n  {\n    "email": "a@x.test"\n  }\n]'])(
  'an array in JSON is refused as JSON and not as CSV: %j',
  async (content) => {
    await expect(readWhole(Buffer.from(content))).rejects.toThrow('The first line is not a JSON object');
  },
);
