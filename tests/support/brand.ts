import type { Brand } from '../../shared/pure/brand.ts';

/** The brand of a project without settings. */
export const TEST_BRAND: Brand = {
  name: 'Test',
  displayName: null,
  postalAddress: null,
  logoUrl: null,
  brandColor: null,
  language: null,
};
