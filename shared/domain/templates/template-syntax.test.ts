import { describe, expect, it } from '@jest/globals';
import { AppError } from '../../pure/app-error.ts';
import { assertTemplateSyntax } from './template-syntax.ts';

function refusalOf(run: () => void): AppError | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

describe('assertTemplateSyntax', () => {
  it('lets pass what compiles, and what is not there', () => {
    assertTemplateSyntax({});
    assertTemplateSyntax({ subject: '{{a}}', body: '{{#each a}}{{this}}{{/each}} {{ open' }, 'VALIDATION_ERROR');
  });

  it('answers 400 with field, line and column of the first fault', () => {
    const refusal = refusalOf(() => assertTemplateSyntax({ subject: 'fine', body: 'a\n b{{/if}}' }));
    expect(refusal).toMatchObject({ statusCode: 400, details: { field: 'body', line: 2, column: 3 } });
    expect(refusal?.message).toContain('line 2, column 3');
    expect(refusal?.errors).toBeUndefined();
  });

  it('answers 422 with a field error where that is asked for', () => {
    const refusal = refusalOf(() =>
      assertTemplateSyntax({ subject: '{{#if a}}', body: '{{/if}}' }, 'VALIDATION_ERROR'),
    );
    expect(refusal).toMatchObject({
      statusCode: 422,
      details: { field: 'subject', line: 1, column: 1 },
      errors: [{ field: 'subject', code: 'invalid_template' }],
    });
  });
});
