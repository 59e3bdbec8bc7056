import { writeFile } from 'node:fs/promises';
import { it } from '@jest/globals';
import { format } from 'prettier';
import { API_EXAMPLES_FILE } from '../../api/reference/examples.ts';
import { recordApiExamples } from '../support/api-examples/record.ts';

it('records an example of each operation', async () => {
  const text = JSON.stringify(await recordApiExamples());
  await writeFile(API_EXAMPLES_FILE, await format(text, { parser: 'json', printWidth: 120 }));
}, 120_000);
