import { expect, it } from '@jest/globals';
import { readApiExamples } from '../api/reference/examples.ts';
import { recordApiExamples } from './support/api-examples/record.ts';

it('the API answers as the examples of the reference show (`npm run api-examples` records them)', async () => {
  expect(await recordApiExamples()).toEqual(readApiExamples());
}, 120_000);
