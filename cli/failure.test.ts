import { describe, expect, it } from '@jest/globals';
import { ServiceError } from '@temporalio/client';
import { describeFailure } from './failure.ts';

describe('the text of a failure', () => {
  it('is that of the error of gRPC behind the one of the SDK', () => {
    const cause = Object.assign(new Error('5 NOT_FOUND'), {
      code: 5,
      metadata: {},
      details: 'workflow not found for ID: x',
    });
    const text = describeFailure(new ServiceError('Failed to describe schedule', { cause }));
    expect(text).toBe('Temporal refused or did not answer: workflow not found for ID: x');
  });
});
