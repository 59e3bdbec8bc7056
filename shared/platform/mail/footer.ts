import type { Locale } from '../../pure/contacts/locale.ts';

/** The texts of the two links of the footer. */
const TEXTS: Readonly<Record<Locale, { unsubscribe: string; manage: string }>> = {
  en: { unsubscribe: 'Unsubscribe', manage: 'Manage subscription' },
  de: { unsubscribe: 'Abmelden', manage: 'Abonnement verwalten' },
  fr: { unsubscribe: 'Se désabonner', manage: 'Gérer mon abonnement' },
  es: { unsubscribe: 'Darse de baja', manage: 'Gestionar la suscripción' },
  nl: { unsubscribe: 'Afmelden', manage: 'Abonnement beheren' },
  pt: { unsubscribe: 'Cancelar a inscrição', manage: 'Gerir a inscrição' },
};

/** The end of a MARKETING mail in a language: the way out, as HTML with placeholders. */
export function footerHtml(locale: Locale): string {
  const { unsubscribe, manage } = TEXTS[locale];
  return `
<div lang="${locale}" style="margin-top:32px;padding-top:16px;border-top:1px solid #d9d9d9;font:12px/1.5 sans-serif;color:#595959;text-align:center">
<a href="{{unsubscribeUrl}}" style="color:#595959">${unsubscribe}</a> &middot; <a href="{{manageUrl}}" style="color:#595959">${manage}</a>
</div>
`;
}
