import { describe, expect, it } from '@jest/globals';
import { judgeReport } from '../verdict/judge-report.ts';
import { readInboundMessage } from './inbound-message.ts';

/** The first sentence of Exchange, in the language of its administrator; the server reply follows in English. */
const LANGUAGES = [
  ['German', 'Unzustellbar', 'Fehler bei der Nachrichtenzustellung an folgende Empfänger:'],
  ['Dutch', 'Onbestelbaar', 'Bezorgen aan de volgende geadresseerden is mislukt:'],
  ['Portuguese', 'Não é possível entregar', 'A entrega falhou para estes destinatários:'],
  ['Italian', 'Non recapitabile', 'Recapito non riuscito per i seguenti destinatari:'],
  ['Polish', 'Niedostarczalne', 'Dostarczenie do następujących adresatów nie powiodło się:'],
  ['Swedish', 'Olevererbar', 'Det gick inte att leverera till följande mottagare:'],
  ['Danish', 'Kan ikke leveres', 'Levering til disse modtagere mislykkedes:'],
  ['Finnish', 'Ei voitu toimittaa', 'Toimitus seuraaville vastaanottajille epäonnistui:'],
  ['Czech', 'Nedoručitelné', 'Doručení těmto příjemcům se nezdařilo:'],
  ['Turkish', 'Teslim Edilemeyen', 'Bu alıcılara teslim başarısız oldu:'],
  ['Russian', 'Не доставлено', 'Не удалось доставить сообщение следующим получателям:'],
  ['Chinese', '未能送达', '未能向以下收件人传递邮件:'],
  ['Japanese', '配信不能', '次の受信者への配信に失敗しました:'],
] as const;

function report(title: string, said: string): Buffer {
  const head = `From: Exchange <MicrosoftExchange329e71ec88ae4615@home.test>\nTo: news@shop.test\nSubject: ${title}: News\n`;
  const type = 'Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n';
  const reason = '#550 5.1.1 RESOLVER.ADR.RecipNotFound; not found ##';
  return Buffer.from(`${head}${type}\n${said}\n\njoe@home.test\n\nServer: mx.home.test\n\njoe@home.test\n${reason}\n`);
}

function verdictOf(raw: Buffer): string {
  const message = readInboundMessage(raw, '');
  const [recipient] = message.kind === 'dsn' ? message.recipients : [];
  return recipient ? judgeReport(recipient).kind : message.kind;
}

describe('a report of Exchange', () => {
  it.each(LANGUAGES)('is read in %s', (_language, title, said) => {
    expect(verdictOf(report(title, said))).toBe('hard');
  });
});

describe('a notice of a spam filter', () => {
  it('that blocked a message is a failure, not a delay', () => {
    const text = 'Your message to joe@home.test was blocked by our filter. It has not been delivered.';
    const raw = `From: Filter <mailer-daemon@home.test>\nTo: news@shop.test\nSubject: Message you sent was blocked\n\n${text}\n`;
    expect(verdictOf(Buffer.from(raw))).toBe('sender');
  });
});
