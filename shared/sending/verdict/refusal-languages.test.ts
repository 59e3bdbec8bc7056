import { describe, expect, it } from '@jest/globals';
import { judgeRefusal } from './judge-refusal.ts';

/** Replies at RCPT without enhanced codes, so that the words alone decide. */
const kindOf = (words: string) => judgeRefusal({ stage: 'rcpt', code: 550, text: `550 ${words}` }).kind;

const HARD: Record<string, string[]> = {
  English: [
    'ADDRESS_NOT_FOUND',
    'Invalid-Recipient',
    'UserUnknown',
    'not a known user',
    'is not an active address at this host',
    'no longer an employee',
    'account is unavailable',
    'No mail box available for this user',
    'No such mail drop defined',
    'sorry, this recipient is in my badrcptto list',
    'incorrectly addressed',
    'was not found in LDAP server',
    'No joe in name directory',
    'does not handle mail for that user',
    '<joe@home.test> not found',
    'non existent user',
  ],
  German: [
    'Kein solcher Benutzer',
    'Kein Postfach mit diesem Namen',
    'Ungültiger Empfänger',
    'Die angegebene E-Mail-Adresse wurde deaktiviert',
    'Mailbox ist geschlossen',
    'Die Adresse ist nicht mehr gültig',
    'Mailaccount inaktiv',
  ],
  French: ['Aucun utilisateur à cette adresse', "Cette adresse n'est plus valide", 'Compte inexistant'],
  Spanish: [
    'Cuenta deshabilitada',
    'No hay ningún usuario con ese nombre',
    'Dirección de correo inválida',
    'El usuario esta inactivo',
    'La casilla ha expirado',
  ],
  Portuguese: ['Endereço de e-mail inválido', 'Caixa postal inexistente'],
  Italian: [
    'Indirizzo email non valido',
    'Casella disattivata',
    'destin. sconosciuto',
    "Questo indirizzo e' bloccato per inutilizzo",
  ],
  Romanian: ['Utilizator necunoscut', 'Destinatarul nu există'],
  Swedish: ['Användaren finns inte', 'Okänd mottagare'],
  Finnish: ['Vastaanottajaa ei löydy', 'Tuntematon käyttäjä'],
  Polish: ['Nieprawidłowy adres odbiorcy', 'Odbiorca nieznany', 'Skrzynka nieaktywna', 'Konto zostało usunięte'],
  Czech: ['Uživatel nenalezen', 'Neznámý příjemce'],
  Hungarian: ['Felhasználó nem található'],
  Turkish: ['Kullanıcı mevcut değil', 'Alıcı adresi bulunamadı'],
  Russian: [
    'Такого пользователя нет',
    'Учётная запись удалена',
    'Неверный адрес получателя',
    'Почтовый ящик заблокирован',
  ],
  Ukrainian: ['Користувача не знайдено'],
  Bulgarian: ['Непознат получател'],
  Chinese: ['没有此用户', '该邮箱已被停用', '收件人地址错误', '账号已注销'],
  Japanese: ['宛先のメールアドレスは無効です', 'このメールアドレスは現在使われておりません', '受信者が不明です'],
  Korean: ['수신자를 찾을 수 없습니다'],
};

const SENDER: Record<string, string[]> = {
  German: ['Ihre IP-Adresse ist ungültig', 'Ihr Server ist uns nicht bekannt', 'Ungültige Absenderadresse'],
  French: ["L'adresse IP de votre serveur n'existe pas dans le DNS", 'Votre adresse est inconnue', 'Liste noire'],
  Spanish: [
    'Dirección IP no válida',
    'Su servidor no existe',
    'Remitente desconocido',
    'Su IP está en una lista negra',
  ],
  Portuguese: ['Endereço IP inválido', 'Seu domínio não existe'],
  Italian: ['Indirizzo IP non valido', 'Mittente sconosciuto'],
  Romanian: ['Expeditorul nu există'],
  Swedish: ['Avsändaren finns inte'],
  Polish: ['Adres nadawcy jest nieprawidłowy', 'Twój adres IP nie istnieje', 'Nieznany nadawca'],
  Czech: ['Odesílatel nenalezen'],
  Turkish: ['Gönderen adresi bulunamadı'],
  Russian: [
    'Ваш IP-адрес заблокирован',
    'Неверный адрес отправителя',
    'Ваш сервер не найден',
    'IP адрес не найден в DNS',
  ],
  Chinese: ['发件人域名不存在', '无效的发件人', 'IP地址错误', '您的账号已停用'],
  Japanese: ['送信元アドレスが見つかりません', '不正な送信者アドレス'],
  Korean: ['발신자 주소가 존재하지 않습니다'],
};

const rows = (samples: Record<string, string[]>) =>
  Object.entries(samples).flatMap(([language, all]) => all.map((words) => [language, words] as const));

describe('a dead address', () => {
  it.each(rows(HARD))('is recognised in %s: %s', (_language, words) => {
    expect(kindOf(words)).toBe('hard');
  });
});

describe('a fault of the sender', () => {
  it.each(rows(SENDER))('is recognised in %s: %s', (_language, words) => {
    expect(kindOf(words)).toBe('sender');
  });

  it.each([
    'Your address does not exist',
    'Account disabled: your mailbox may not send',
    'Domain shop.example does not exist in our sender list',
    'SMTP AUTH user not found',
    'Unknown host: your IP 192.0.2.5 has no name',
    'Client host not found',
    'Originating host not found',
    'Invalid user or password',
    'Account not active, please contact your provider to enable sending',
    'Invalid header address',
    'A link in the message leads to an unknown host',
    'User has disabled mail from mailing lists',
    'The reverse path user is unknown',
    'IP address deactivated',
    'Domain expired: shop.example (sender)',
    'El destinatario no acepta correo de desconocidos',
    'Il destinatario non accetta messaggi da mittenti non validi',
    'Compte expéditeur désactivé',
    'Cuenta remitente desactivada',
    'Client has no permission to send as this sender',
    'Spam message rejected. Please do not respond to this message',
  ])('is recognised among words that are also used for dead addresses: %s', (words) => {
    expect(kindOf(words)).toBe('sender');
  });
});
