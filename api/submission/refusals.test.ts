import { expect, it } from '@jest/globals';
import { AppError } from '../../shared/pure/app-error.ts';
import { refusal, refusalOf } from './refusals.ts';

it('a reply has ASCII only, whatever letters a domain has', () => {
  expect(refusal(550, '5.7.1 The sender domain bücher.example is not registered').message).toBe(
    '5.7.1 The sender domain b?cher.example is not registered',
  );
});

it('a password that could stand in no header is refused in words of SMTP', () => {
  const message = 'The Authorization header does not use the Bearer scheme';
  expect(refusalOf(new AppError('INVALID_API_KEY', { message }))?.message).not.toMatch(/header/);
  const known = refusalOf(new AppError('INVALID_API_KEY', { message: 'The API key is not known' }));
  expect(known?.message).toBe('5.7.8 The API key is not known: the password is a secret key of the project (sk_...)');
});
