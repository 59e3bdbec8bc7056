import type { LanguageTexts } from '../language-texts.ts';

export const fr: LanguageTexts = {
  direction: 'ltr',
  page: {
    unsubscribe: 'Se désabonner',
    subscribe: 'S’abonner',
    manage: 'Votre abonnement',
    unsubscribedTitle: 'Désabonnement confirmé',
    subscribedTitle: 'Abonnement actif',
    askUnsubscribe: 'Ne souhaitez-vous plus recevoir les lettres d’information de {name} à l’adresse {email} ?',
    askSubscribe: 'Souhaitez-vous recevoir les lettres d’information de {name} à l’adresse {email} ?',
    isUnsubscribed: '{email} ne recevra plus les lettres d’information de {name}.',
    isSubscribed: '{email} reçoit les lettres d’information de {name}.',
    isGone: 'Cette adresse ne figure plus sur la liste.',
    tooOften: 'Votre abonnement a été modifié trop souvent aujourd’hui. Veuillez réessayer demain.',
    notFoundTitle: 'Ce lien ne fonctionne pas',
    notFound: 'Il est peut-être incomplet. Veuillez l’ouvrir à nouveau depuis l’e-mail.',
    linkClosed: 'Il n’est plus actif.',
  },
  footer: {
    reason: 'Vous recevez cet e-mail en raison de votre abonnement aux lettres d’information de {name}.',
    unsubscribe: 'Se désabonner',
    manage: 'Gérer mon abonnement',
    topic: {
      reason: 'Vous recevez cet e-mail parce que vous suivez « {topic} » de {name}.',
      unsubscribe: 'Ne plus suivre ce thème',
      manage: 'Choisir ce que je reçois',
    },
  },
  archive: { title: 'Archives de la newsletter', empty: 'Il n’y a encore rien ici.', older: 'Plus anciens' },
};
