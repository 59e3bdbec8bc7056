import type { Command } from 'commander';
import { settingsOf } from '../shared/domain/opt-ins/opt-in.ts';
import { badRequest } from '../shared/pure/app-error.ts';
import { doubleOptInSchema, type DoubleOptIn } from '../shared/pure/double-opt-in.ts';

export interface DoubleOptInOptions {
  doubleOptIn?: boolean;
  remindAfterDays?: string;
  expireAfterDays?: string;
  confirmationFrom?: string;
  confirmationTemplate?: string;
  redirectHosts?: string;
}

/** Adds the options that say how subscriptions through forms are confirmed. */
export function addDoubleOptInOptions(command: Command): Command {
  return command
    .option('--double-opt-in', 'subscriptions through forms have to be confirmed')
    .option('--no-double-opt-in', 'they count at once, except for who has left')
    .option('--remind-after-days <number>', 'when the one reminder follows: 0 to 6; 0 = none')
    .option('--expire-after-days <number>', 'when a request that nobody confirmed ends: 1 to 30')
    .option('--confirmation-from <address>', 'the sender of confirmations; "" = no-reply at the first verified domain')
    .option('--confirmation-template <id>', 'a TRANSACTIONAL template with {{confirmUrl}}; "" = the built-in email')
    .option('--redirect-hosts <hosts>', 'hosts that a form may lead to, besides sender domains: a,b; "" = none');
}

/**
 * The settings after a command: those given, and the others as they are; undefined when none is given.
 * @throws AppError BAD_REQUEST that names the setting
 */
export function changedDoubleOptIn(options: DoubleOptInOptions, before: DoubleOptIn | null): DoubleOptIn | undefined {
  const { doubleOptIn, remindAfterDays, expireAfterDays, confirmationFrom, confirmationTemplate } = options;
  const numberOf = (text: string | undefined) => (text === undefined ? undefined : Number(text));
  const textOf = (text: string | undefined) => (text === '' ? null : text);
  const given = Object.entries({
    isRequired: doubleOptIn,
    remindAfterDays: numberOf(remindAfterDays),
    expireAfterDays: numberOf(expireAfterDays),
    from: textOf(confirmationFrom),
    templateId: textOf(confirmationTemplate),
    redirectHosts: options.redirectHosts?.split(',').flatMap((host) => host.trim() || []),
  }).filter(([, value]) => value !== undefined);
  if (given.length === 0) return undefined;
  const read = doubleOptInSchema.safeParse({ ...settingsOf(before), ...Object.fromEntries(given) });
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw badRequest(`doubleOptIn.${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'Not valid'}`);
}

export function formatDoubleOptIn(stored: DoubleOptIn | null): string {
  const { isRequired, remindAfterDays, expireAfterDays, from } = settingsOf(stored);
  if (!isRequired) return 'not needed';
  const reminder = remindAfterDays === 0 ? 'no reminder' : `reminder after ${remindAfterDays} days`;
  return `needed, ${reminder}, ends after ${expireAfterDays} days, from ${from ?? 'the first verified domain'}`;
}
