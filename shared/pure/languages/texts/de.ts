import type { LanguageTexts } from '../language-texts.ts';

export const de: LanguageTexts = {
  direction: 'ltr',
  page: {
    unsubscribe: 'Abmelden',
    subscribe: 'Anmelden',
    manage: 'Ihr Abonnement',
    unsubscribedTitle: 'Sie sind abgemeldet',
    subscribedTitle: 'Sie sind angemeldet',
    askUnsubscribe: 'Möchten Sie an {email} keine Newsletter von {name} mehr erhalten?',
    askSubscribe: 'Möchten Sie an {email} Newsletter von {name} erhalten?',
    isUnsubscribed: '{email} erhält keine Newsletter von {name} mehr.',
    isSubscribed: '{email} erhält Newsletter von {name}.',
    isGone: 'Diese Adresse steht nicht mehr auf der Liste.',
    tooOften: 'Ihr Abonnement wurde heute zu oft geändert. Bitte versuchen Sie es morgen noch einmal.',
    notFoundTitle: 'Dieser Link funktioniert nicht',
    notFound: 'Vielleicht ist er unvollständig. Bitte öffnen Sie ihn noch einmal aus der E-Mail.',
    linkClosed: 'Er ist nicht mehr aktiv.',
  },
  footer: {
    reason: 'Sie erhalten diese E-Mail, weil Sie Newsletter von {name} abonniert haben.',
    unsubscribe: 'Abmelden',
    manage: 'Abonnement verwalten',
    topic: {
      reason: 'Sie erhalten diese E-Mail, weil Sie „{topic}“ von {name} folgen.',
      unsubscribe: 'Dieses Thema abbestellen',
      manage: 'Auswählen, was Sie erhalten',
    },
  },
  archive: { title: 'Newsletter-Archiv', empty: 'Hier ist noch nichts.', older: 'Ältere' },
};
