import { z } from 'zod';
import { LANGUAGES, type Language } from './languages/languages.ts';
import { LIMITS } from './limits.ts';

/**
 * What recipients see of the project that sends to them: in the footer of MARKETING email and on the project's pages.
 */
export interface Brand {
  name: string;
  /** The display name; null where none is set. The name of the project may be for operators only. */
  displayName: string | null;
  postalAddress: string | null;
  logoUrl: string | null;
  /** The colour of buttons and links on pages, as `#rrggbb`. */
  brandColor: string | null;
  /** The language for recipients whose own language is unknown. */
  language: Language | null;
}

/**
 * No control characters: they could hide or reorder the rest of a text. The patterns work without the flag `u`, because
 * validators made from the OpenAPI document read them without it.
 */
const ONE_LINE = /^[^\u0000-\u001F\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]*$/;
const LINES = /^(?:[^\u0000-\u001F\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]|\r?\n)*$/;

/** A host of letters, digits and hyphens cannot end the directive of a content security policy that names it. */
const LOGO_URL = /^https:\/\/[A-Za-z\d](?:[A-Za-z\d.-]*[A-Za-z\d])?(?::\d{1,5})?\/[^\s"'<>\\]*$/;
const LOGO_FAULT = 'Must be an https:// address of a picture';

/** A name that people read in one line. */
export function lineSchema(lengthMax: number) {
  return z.string().trim().min(1).max(lengthMax).regex(ONE_LINE, 'Must be one line without control characters');
}

/** The settings behind a brand, as operators and callers write them; null removes a setting. */
export const brandSettingsSchema = z.object({
  displayName: lineSchema(LIMITS.displayNameLength)
    .nullable()
    .optional()
    .meta({
      description: 'The name that recipients see on pages and in footers; without one, the name of the project',
      examples: ['Tea & Co'],
    }),
  postalAddress: z
    .string()
    .trim()
    .min(1)
    .max(LIMITS.postalAddressLength)
    .regex(LINES, 'Must not contain control characters')
    .refine((text) => text.split('\n').length <= LIMITS.postalAddressLines, {
      error: `Must have at most ${LIMITS.postalAddressLines} lines`,
      params: { code: 'too_big' },
    })
    .transform((text) => text.replaceAll('\r\n', '\n'))
    .nullable()
    .optional()
    .describe('The address of the sender in the footer of MARKETING email, which many laws demand'),
  logoUrl: z
    .string()
    .trim()
    .max(LIMITS.logoUrlLength)
    .regex(LOGO_URL, LOGO_FAULT)
    .refine((url) => URL.canParse(url), LOGO_FAULT)
    .nullable()
    .optional()
    .meta({ description: 'A picture above the footer and the pages', examples: ['https://shop.example/logo.png'] }),
  brandColor: z
    .string()
    .trim()
    .regex(/^#[\dA-Fa-f]{6}$/, 'Must be a colour of six hexadecimal digits, such as #0f766e')
    .toLowerCase()
    .nullable()
    .optional()
    .meta({ description: 'The colour of buttons and links on the pages; texts stay readable', examples: ['#0f766e'] }),
  language: z
    .optional(z.enum(LANGUAGES).nullable())
    .meta({ description: 'The language of recipients whose own is not known', examples: ['de'] }),
});

export type BrandSettings = z.infer<typeof brandSettingsSchema>;
