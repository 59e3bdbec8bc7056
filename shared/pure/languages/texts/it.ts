import type { LanguageTexts } from '../language-texts.ts';

export const it: LanguageTexts = {
  direction: 'ltr',
  page: {
    unsubscribe: 'Annulla iscrizione',
    subscribe: 'Iscriviti',
    manage: 'La tua iscrizione',
    unsubscribedTitle: 'Iscrizione annullata',
    subscribedTitle: 'Iscrizione attiva',
    askUnsubscribe: 'Non vuoi più ricevere le newsletter di {name} all’indirizzo {email}?',
    askSubscribe: 'Vuoi ricevere le newsletter di {name} all’indirizzo {email}?',
    isUnsubscribed: '{email} non riceverà più le newsletter di {name}.',
    isSubscribed: '{email} riceve le newsletter di {name}.',
    isGone: 'Questo indirizzo non è più nella lista.',
    tooOften: 'La tua iscrizione è stata modificata troppe volte oggi. Riprova domani.',
    notFoundTitle: 'Questo link non funziona',
    notFound: 'Forse è incompleto. Aprilo di nuovo dall’email.',
    linkClosed: 'Non è più attivo.',
  },
  footer: {
    reason: 'Ricevi questa email per la tua iscrizione alle newsletter di {name}.',
    unsubscribe: 'Annulla iscrizione',
    manage: 'Gestisci l’iscrizione',
    topic: {
      reason: 'Ricevi questa email perché segui «{topic}» di {name}.',
      unsubscribe: 'Lascia questo argomento',
      manage: 'Scegli cosa ricevere',
    },
  },
  archive: { title: 'Archivio delle newsletter', empty: 'Qui non c’è ancora nulla.', older: 'Precedenti' },
};
