import { describe, expect, it } from '@jest/globals';
import { AppError } from '../../pure/app-error.ts';
import { assertTemplateSyntax } from './template-syntax.ts';

async function refusalOf(run: () => Promise<void>): Promise<AppError | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

describe('assertTemplateSyntax', () => {
  it('accepts parts that compile, and missing parts', async () => {
    await assertTemplateSyntax({});
    await assertTemplateSyntax({ subject: '{{a}}', body: '{{#each a}}{{this}}{{/each}} {{ open', text: null });
  });

  it.each(['a\n b{{/if}}', 'a\n b{{ a | upcase }}'])(
    'answers 400 with field, line and column of the first fault of %j',
    async (source) => {
      const refusal = await refusalOf(() => assertTemplateSyntax({ subject: 'fine', body: source }));
      expect(refusal).toMatchObject({ statusCode: 400, details: { field: 'body', line: 2, column: 3 } });
      expect(refusal?.message).toContain('line 2, column 3');
      expect(refusal?.errors).toBeUndefined();
    },
  );
});
