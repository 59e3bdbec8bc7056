/** Joins alternatives, so that a list can be read line by line. */
function anyOf(flags: string, ...alternatives: RegExp[]): RegExp {
  return new RegExp(alternatives.map((each) => each.source).join('|'), flags);
}

/** Phrases of failure reports, in the subject or the text. Texts are compared in lower case. */
export const FAILURE_WORDS = anyOf(
  '',
  // English
  /(?:could|can|did|was|were|is|has|have|do|does)(?: not|n['’]t|not)(?: \w+){0,4}? (?:deliver|sent\b|transmit)|did(?: not|n['’]t) reach|could(?: not|n['’]t) be (?:accepted|completed|processed|handled)/,
  /(?:unable|failed|failure|impossible) to (?:\w+ ){0,2}?(?:deliver|send|relay|reach|transmit|process)/,
  /undeliver|non-?deliver|not deliverable|delivery (?:\w+ ){0,4}?(?:fail|error|problem|unsuccessful|reject|not possible|abort)/,
  /fail(?:ed|ure) (?:delivery|mail|notice|notification|reason)|delivery status notification|delivery[- ]notification|mail (?:delivery )?(?:system )?(?:error|fail)/,
  /return(?:ed|ing) (?:e?-?mail|message|to sender)|returned to (?:the )?sender|returning (?:\w+ ){1,2}to (?:the )?sender/,
  /(?:delivery|permanent|fatal) errors?\b|permanent(?:ly)? fail|(?:trouble|problem|error)s? (?:\w+ ){0,2}?(?:deliver|send)ing/,
  /(?:message|mail|e-mail|letter) (?:has been |have been |was |were |is )?(?:\w+ )?(?:bounced|rejected|refused|returned|blocked)/,
  /(?:failed (?:addresses|recipients)|rejected (?:your )?(?:message|mail|e-mail))|user\(?s?\)? (?:account )?(?:is )?(?:unknown|disabled)/,
  // German, Dutch, the languages of Scandinavia
  /unzustellbar|nicht (?:\S+ )?(?:zugestellt|zustellbar|ausgeliefert)|zustell\S{0,12} (?:\S+ )?(?:fehl|nicht|gescheitert)|unzugestellt|fehler bei der (?:nachrichten)?(?:zustellung|übermittlung)/,
  /onbestelbaar|bezorg\S{0,20} (?:\S+ ){0,9}mislukt|niet (?:\S+ ){0,2}(?:bezorgd|afgeleverd|verzonden|worden bezorgd)|kunde inte (?:levereras|skickas)|kunne ikke leveres|kan ikke leveres|levering (?:\S+ ){0,6}mislyk|toimit\S{0,20} (?:\S+ ){0,6}epäonnistui|ikke leveret|olevererbar|gick inte att leverera|ei voitu toimittaa/,
  // French, Spanish, Portuguese, Italian, Romanian
  /non[- ](?:remis|distribu|d[eé]livr)|pas pu [eê]tre (?:remis|livr|d[eé]livr|envoy|transmis|distribu)|[eé]chec (?:de|d.) ?(?:la )?(?:remise|livraison|distribution|envoi)|impossible de (?:remettre|livrer|distribuer|d[eé]livrer)/,
  /no (?:se )?(?:ha )?(?:pud?o|puede|podido|fue posible)(?: \S+){0,3} (?:entreg|envia|enviar)|no entregad|error (?:de|en la) entrega|mensaje (?:ha sido )?devuelto|no se entreg/,
  /n[aã]o (?:p[oô]de|foi|pode|conseguiu)(?: \S+){0,3} (?:entreg|envia)|falha (?:na|de) entrega|mensagem devolvida|n[aã]o entreg|entrega (?:\S+ ){0,6}falhou|n[aã]o [eé] poss[ií]vel entregar/,
  /mancata consegna|mancato recapito|recapito (?:\S+ )?non riuscito|non recapitabil|impossibile (?:recapitare|consegnare|inviare)|non (?:[eè] stat[oa] (?:possibile )?|pu[oò] essere )(?:recapit|consegn|inviat)|nu a putut fi livrat/,
  // Polish, Czech, Slovak, Hungarian, Turkish, Greek
  /nie (?:zosta[lł]a?|mo[zż]e zosta[cć]|uda[lł]o si[eę])(?: \S+){0,2} dor[eę]cz|nie(?:dostarcz|dor[eę]cz)|nie mo[zż]na (?:by[lł]o )?dostarcz|nie zosta[lł]a dostarcz|dostarcz\S{0,20} (?:\S+ ){0,6}nie powiod|doručen\S{0,20} (?:\S+ ){0,6}nezdařil|teslim (?:\S+ )?başarısız|nedoru[cč]|nelze doru[cč]it|nebyla? doru[cč]en|k[eé]zbes[ií]thetetlen|nem (?:lehet |siker[uü]lt )?k[eé]zbes|teslim edilem|iletilem|δεν (?:\S+ ){0,3}παρ[αά]δ/,
  // Russian, Ukrainian
  /не (?:может быть|могло быть|было|был[ао]?|удалось|удаётся)(?: \S+){0,2}? достав|недоставл|не доставлен|невозможно (?:\S+ )?достав|не (?:вдалося|може бути)(?: \S+){0,2} достав/,
  // Japanese, Chinese, Korean
  /(?:配信|送信|配送|配達|送達|お届け|届け)(?:が|を|は|する(?:こと)?(?:が|は)?|すること)?(?:でき|不能|エラー|に失敗|失敗|出来)|届きませんでした|エラーメール|メールエラー|送信でき|返送(?:します|され|いた)|見つかりませんでした|存在しない/,
  /退信|无法(?:投递|送达|发送|传递|到达)|投递失败|無法(?:傳遞|遞送|投遞|寄|送)|未能(?:送达|投递|成功)|不能投递|未能向|被退回|发送失败|傳送失敗|寄送失敗|退件/,
  /(?:전송|배달|발송|전달)(?:되지|할 수|이 |에 |을 )?\s?(?:못|없|실패|않|하지)|반송/,
  // Arabic, Hebrew, Vietnamese
  /تعذر|لم يتم (?:تسليم|توصيل)|לא (?:נמסר|ניתן)|kh[oô]ng th[eể] (?:g[uử]i|chuy[eể]n)/,
);

const DELAY = anyOf(
  '',
  /\bdelay(?:ed)?\b|not yet (?:been )?deliver|has not (?:yet )?been delivered|warning[:!-]|warning (?:message )?only|could not send (?:message )?for past/,
  /still (?:being retried|trying|attempting)|will (?:be retried|keep trying|continue|try again|retry)|(?:no action|nothing) is required|do not need to resend/,
  /verz[oö]ger|noch nicht zugestellt|retard[eé]|retrasad|ritard|atrasad|op[oó][zź]nion|задерж|отлож|遅延|延迟|延遲|지연/,
);
/** Phrases that exclude a delay: a final failure may mention earlier attempts or warnings. */
const GIVEN_UP =
  /giv(?:en|ing) up|permanent|fatal|not (?:be )?(?:retried|going to try)|no longer (?:be )?(?:retr|try)|undeliver|will not|returned mail|(?:was|been|is) blocked|too long|expired|failure notice|\(failure\)|exceeded/;

/** Phrases that prove a delay, even if the text says when the server will give up. */
const WARNING =
  /no action is required|do not need to resend|warning (?:message )?only|not yet been delivered|still being retried|attempts will continue|status notification \(delay\)|^(?:delayed mail|warning:? )/;

/** Whether a text reports a delay, after which delivery is tried again. */
export function isDelay(said: string): boolean {
  return WARNING.test(said) || (DELAY.test(said) && !GIVEN_UP.test(said));
}

/** Lines before the returned message. */
export const ORIGINAL_MARKS = anyOf(
  'im',
  /^[ \t>|*=_-]{0,20}(?:-{2,80}|\|-{1,40}|={3,80}|_{3,80}|\*{3,80})[ \t]{0,20}(?:this is (?:a|the) copy|below this line|(?:the )?(?:original|returned|unsent|undelivered|rejected|bounced) (?:e-?mail|message|mail|header|text)|(?:the )?headers? of the original|message (?:text|header|body|content)|copy of|your (?:original )?message|included|end of message|returned)/,
  /^[ \t]{0,20}(?:message headers? follow|original message (?:headers?|follows)|the original message(?: headers?)? (?:follows|is|was included|below|starts)|here is (?:a|the) copy|your (?:original )?message (?:follows|is (?:attached|below|included)|headers)|headers? of (?:the|your) (?:original )?(?:message|mail)|unsent message follows|text of (?:your|the) message|first \d+ (?:lines|bytes|kb) of)/,
  /^[ \t]{0,20}(?:-{3,80}[ \t]{0,20})?(?:ursprüngliche|originalnachricht|message d'origine|mensaje original|messaggio originale|mensagem original|oryginalna|исходн|元のメ|原始邮件|原邮件|원본)/,
);
