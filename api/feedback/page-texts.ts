import type { Locale } from '../../shared/pure/contacts/locale.ts';

/** The texts of the pages; `{email}` stands for the address. */
export interface PageTexts {
  unsubscribe: string;
  subscribe: string;
  manage: string;
  askUnsubscribe: string;
  askSubscribe: string;
  isUnsubscribed: string;
  isSubscribed: string;
  /** For a link whose contact is gone. */
  isGone: string;
  /** For a contact that has subscribed again and again today. */
  tooOften: string;
  notFoundTitle: string;
  notFound: string;
}

export const PAGE_TEXTS: Readonly<Record<Locale, PageTexts>> = {
  en: {
    unsubscribe: 'Unsubscribe',
    subscribe: 'Subscribe',
    manage: 'Your subscription',
    askUnsubscribe: 'Do you no longer want to receive our newsletters at {email}?',
    askSubscribe: 'Do you want to receive our newsletters at {email}?',
    isUnsubscribed: 'You are unsubscribed. {email} receives no more newsletters.',
    isSubscribed: 'You are subscribed. {email} receives our newsletters.',
    isGone: 'You are unsubscribed. This address is no longer on our list.',
    tooOften: 'Your subscription has been changed too often today. Please try again tomorrow.',
    notFoundTitle: 'This link does not work',
    notFound: 'It may be incomplete. Please open it again from the e-mail, or copy all of it.',
  },
  de: {
    unsubscribe: 'Abmelden',
    subscribe: 'Anmelden',
    manage: 'Ihr Abonnement',
    askUnsubscribe: 'Möchten Sie unsere Newsletter an {email} nicht mehr erhalten?',
    askSubscribe: 'Möchten Sie unsere Newsletter an {email} erhalten?',
    isUnsubscribed: 'Sie sind abgemeldet. {email} erhält keine Newsletter mehr.',
    isSubscribed: 'Sie sind angemeldet. {email} erhält unsere Newsletter.',
    isGone: 'Sie sind abgemeldet. Diese Adresse steht nicht mehr auf unserer Liste.',
    tooOften: 'Ihr Abonnement wurde heute zu oft geändert. Bitte versuchen Sie es morgen noch einmal.',
    notFoundTitle: 'Dieser Link funktioniert nicht',
    notFound: 'Vielleicht ist er unvollständig. Bitte öffnen Sie ihn noch einmal aus der E-Mail.',
  },
  fr: {
    unsubscribe: 'Se désabonner',
    subscribe: 'S’abonner',
    manage: 'Votre abonnement',
    askUnsubscribe: 'Ne souhaitez-vous plus recevoir nos lettres d’information à l’adresse {email} ?',
    askSubscribe: 'Souhaitez-vous recevoir nos lettres d’information à l’adresse {email} ?',
    isUnsubscribed: 'Vous êtes désabonné. {email} ne recevra plus nos lettres d’information.',
    isSubscribed: 'Vous êtes abonné. {email} reçoit nos lettres d’information.',
    isGone: 'Vous êtes désabonné. Cette adresse ne figure plus sur notre liste.',
    tooOften: 'Votre abonnement a été modifié trop souvent aujourd’hui. Veuillez réessayer demain.',
    notFoundTitle: 'Ce lien ne fonctionne pas',
    notFound: 'Il est peut-être incomplet. Veuillez l’ouvrir à nouveau depuis l’e-mail.',
  },
  es: {
    unsubscribe: 'Darse de baja',
    subscribe: 'Suscribirse',
    manage: 'Su suscripción',
    askUnsubscribe: '¿Ya no desea recibir nuestros boletines en {email}?',
    askSubscribe: '¿Desea recibir nuestros boletines en {email}?',
    isUnsubscribed: 'Se ha dado de baja. {email} ya no recibirá boletines.',
    isSubscribed: 'Está suscrito. {email} recibe nuestros boletines.',
    isGone: 'Se ha dado de baja. Esta dirección ya no está en nuestra lista.',
    tooOften: 'Su suscripción ha cambiado demasiadas veces hoy. Inténtelo de nuevo mañana.',
    notFoundTitle: 'Este enlace no funciona',
    notFound: 'Puede que esté incompleto. Ábralo de nuevo desde el correo electrónico.',
  },
  nl: {
    unsubscribe: 'Afmelden',
    subscribe: 'Aanmelden',
    manage: 'Uw abonnement',
    askUnsubscribe: 'Wilt u onze nieuwsbrieven niet meer ontvangen op {email}?',
    askSubscribe: 'Wilt u onze nieuwsbrieven ontvangen op {email}?',
    isUnsubscribed: 'U bent afgemeld. {email} ontvangt geen nieuwsbrieven meer.',
    isSubscribed: 'U bent aangemeld. {email} ontvangt onze nieuwsbrieven.',
    isGone: 'U bent afgemeld. Dit adres staat niet meer op onze lijst.',
    tooOften: 'Uw abonnement is vandaag te vaak gewijzigd. Probeer het morgen opnieuw.',
    notFoundTitle: 'Deze link werkt niet',
    notFound: 'Misschien is hij niet volledig. Open hem opnieuw vanuit de e-mail.',
  },
  pt: {
    unsubscribe: 'Cancelar a inscrição',
    subscribe: 'Inscrever-se',
    manage: 'A sua inscrição',
    askUnsubscribe: 'Já não deseja receber as nossas newsletters em {email}?',
    askSubscribe: 'Deseja receber as nossas newsletters em {email}?',
    isUnsubscribed: 'A inscrição foi cancelada. {email} já não recebe newsletters.',
    isSubscribed: 'Está inscrito. {email} recebe as nossas newsletters.',
    isGone: 'A inscrição foi cancelada. Este endereço já não está na nossa lista.',
    tooOften: 'A sua inscrição foi alterada demasiadas vezes hoje. Tente novamente amanhã.',
    notFoundTitle: 'Este link não funciona',
    notFound: 'Talvez esteja incompleto. Abra-o novamente a partir do e-mail.',
  },
};
