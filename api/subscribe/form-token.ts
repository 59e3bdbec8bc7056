import { timingSafeEqual } from 'node:crypto';
import { deriveMacs } from '../../shared/platform/mac.ts';
import type { AppSecrets } from '../../shared/platform/sealed-values.ts';

const SIGNATURE_BYTES = 16;

/** Creates the tokens of hosted forms: the time in milliseconds, and a signature with a key derived from APP_SECRET. */
export function createFormTokens(secrets: AppSecrets, now: () => number = Date.now) {
  const macs = deriveMacs(secrets, 'everpost subscribe forms');
  const tokenOf = (shownAt: string, projectId: string, mac = macs[0]) =>
    `${shownAt}.${mac(Buffer.from(`${shownAt} ${projectId}`))
      .subarray(0, SIGNATURE_BYTES)
      .toString('base64url')}`;
  return {
    /** The token of a form that is shown now. */
    sign: (projectId: string): string => tokenOf(String(now()), projectId),
    /** How long ago the form of a token was shown, in milliseconds; undefined for a token of another project or maker. */
    ageOf(token: string, projectId: string): number | undefined {
      const shownAt = /^\d{1,15}(?=\.)/.exec(token)?.[0] ?? '';
      const given = Buffer.from(token);
      const isOurs = macs.some((mac) => {
        const expected = Buffer.from(tokenOf(shownAt, projectId, mac));
        return expected.length === given.length && timingSafeEqual(expected, given);
      });
      return isOurs ? now() - Number(shownAt) : undefined;
    },
  };
}

export type FormTokens = ReturnType<typeof createFormTokens>;
