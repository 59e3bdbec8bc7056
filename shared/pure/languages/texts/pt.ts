import type { LanguageTexts } from '../language-texts.ts';

export const pt: LanguageTexts = {
  direction: 'ltr',
  page: {
    unsubscribe: 'Cancelar a inscrição',
    subscribe: 'Inscrever-se',
    manage: 'A sua inscrição',
    unsubscribedTitle: 'Inscrição cancelada',
    subscribedTitle: 'Inscrição ativa',
    askUnsubscribe: 'Já não deseja receber as newsletters de {name} em {email}?',
    askSubscribe: 'Deseja receber as newsletters de {name} em {email}?',
    isUnsubscribed: '{email} já não recebe as newsletters de {name}.',
    isSubscribed: '{email} recebe as newsletters de {name}.',
    isGone: 'Este endereço já não está na lista.',
    tooOften: 'A sua inscrição foi alterada demasiadas vezes hoje. Tente novamente amanhã.',
    notFoundTitle: 'Este link não funciona',
    notFound: 'Talvez esteja incompleto. Abra-o novamente a partir do e-mail.',
    linkClosed: 'Já não está ativo.',
  },
  footer: {
    reason: 'Recebe este e-mail por causa da sua inscrição nas newsletters de {name}.',
    unsubscribe: 'Cancelar a inscrição',
    manage: 'Gerir a inscrição',
    topic: {
      reason: 'Recebe este e-mail porque segue “{topic}” de {name}.',
      unsubscribe: 'Deixar este tema',
      manage: 'Escolher o que recebe',
    },
  },
  archive: { title: 'Arquivo de newsletters', empty: 'Ainda não há nada aqui.', older: 'Anteriores' },
};
