import type { LanguageTexts } from '../language-texts.ts';

export const es: LanguageTexts = {
  direction: 'ltr',
  page: {
    unsubscribe: 'Darse de baja',
    subscribe: 'Suscribirse',
    manage: 'Su suscripción',
    unsubscribedTitle: 'Baja confirmada',
    subscribedTitle: 'Suscripción activa',
    askUnsubscribe: '¿Ya no desea recibir los boletines de {name} en {email}?',
    askSubscribe: '¿Desea recibir los boletines de {name} en {email}?',
    isUnsubscribed: '{email} ya no recibirá los boletines de {name}.',
    isSubscribed: '{email} recibe los boletines de {name}.',
    isGone: 'Esta dirección ya no está en la lista.',
    tooOften: 'Su suscripción ha cambiado demasiadas veces hoy. Inténtelo de nuevo mañana.',
    notFoundTitle: 'Este enlace no funciona',
    notFound: 'Puede que esté incompleto. Ábralo de nuevo desde el correo electrónico.',
    linkClosed: 'Ya no está activo.',
  },
  footer: {
    reason: 'Recibe este correo electrónico por su suscripción a los boletines de {name}.',
    unsubscribe: 'Darse de baja',
    manage: 'Gestionar la suscripción',
    topic: {
      reason: 'Recibe este correo electrónico porque sigue «{topic}» de {name}.',
      unsubscribe: 'Dejar este tema',
      manage: 'Elegir lo que recibe',
    },
  },
  archive: { title: 'Archivo de boletines', empty: 'Todavía no hay nada aquí.', older: 'Anteriores' },
};
