import type { LanguageTexts } from '../language-texts.ts';

export const nl: LanguageTexts = {
  direction: 'ltr',
  page: {
    unsubscribe: 'Afmelden',
    subscribe: 'Aanmelden',
    manage: 'Uw abonnement',
    unsubscribedTitle: 'U bent afgemeld',
    subscribedTitle: 'U bent aangemeld',
    askUnsubscribe: 'Wilt u op {email} geen nieuwsbrieven van {name} meer ontvangen?',
    askSubscribe: 'Wilt u op {email} nieuwsbrieven van {name} ontvangen?',
    isUnsubscribed: '{email} ontvangt geen nieuwsbrieven van {name} meer.',
    isSubscribed: '{email} ontvangt nieuwsbrieven van {name}.',
    isGone: 'Dit adres staat niet meer op de lijst.',
    tooOften: 'Uw abonnement is vandaag te vaak gewijzigd. Probeer het morgen opnieuw.',
    notFoundTitle: 'Deze link werkt niet',
    notFound: 'Misschien is hij niet volledig. Open hem opnieuw vanuit de e-mail.',
    linkClosed: 'Hij is niet meer actief.',
  },
  footer: {
    reason: 'U ontvangt deze e-mail omdat u bent aangemeld voor nieuwsbrieven van {name}.',
    unsubscribe: 'Afmelden',
    manage: 'Abonnement beheren',
    topic: {
      reason: 'U ontvangt deze e-mail omdat u “{topic}” van {name} volgt.',
      unsubscribe: 'Dit onderwerp verlaten',
      manage: 'Kiezen wat u ontvangt',
    },
  },
  archive: { title: 'Nieuwsbriefarchief', empty: 'Hier is nog niets.', older: 'Oudere' },
};
