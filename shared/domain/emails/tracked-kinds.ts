import { isEmailTracked, type TrackingMode } from '../../pure/project.ts';
import type { CompiledEmail, EmailCompiler, EmailSource } from '../../sending/compose/compiled-email.ts';

/** The compiled content for a contact who has agreed to tracking, refused it (false), or was never asked (null). */
export type CompiledFor = (trackingAllowed: boolean | null | undefined) => CompiledEmail;

/**
 * Compiles content once for all contacts whose opens and clicks are recorded, and once for all others, where there may
 * be both.
 * @throws TemplateSyntaxError, TemplateLimitError
 */
export async function compileForTracking(
  compileEmail: EmailCompiler,
  source: Omit<EmailSource, 'isTracked'>,
  mode: TrackingMode,
): Promise<CompiledFor> {
  const compile = (isTracked: boolean): Promise<CompiledEmail> => compileEmail({ ...source, isTracked });
  const untracked = await compile(false);
  const tracked = isEmailTracked(mode, source.type, true) ? await compile(true) : untracked;
  return (trackingAllowed) => (isEmailTracked(mode, source.type, trackingAllowed) ? tracked : untracked);
}
