import type { LanguageTexts } from '../language-texts.ts';

export const ja: LanguageTexts = {
  direction: 'ltr',
  page: {
    unsubscribe: '配信を停止する',
    subscribe: '配信を登録する',
    manage: '配信の設定',
    unsubscribedTitle: '配信を停止しました',
    subscribedTitle: '配信が登録されています',
    askUnsubscribe: '{email} への {name} からのニュースレターの配信を停止しますか？',
    askSubscribe: '{email} で {name} からのニュースレターを受け取りますか？',
    isUnsubscribed: '{email} に {name} からのニュースレターは今後届きません。',
    isSubscribed: '{email} に {name} からのニュースレターが届きます。',
    isGone: 'このアドレスは配信リストに登録されていません。',
    tooOften: '本日は配信設定の変更回数が上限に達しました。明日もう一度お試しください。',
    notFoundTitle: 'このリンクは無効です',
    notFound: 'リンクが途中で切れている可能性があります。メールからもう一度開くか、リンク全体をコピーしてください。',
    linkClosed: 'このリンクは現在使われていません。',
  },
  footer: {
    reason: 'このメールは {name} のニュースレターにご登録いただいた方にお送りしています。',
    unsubscribe: '配信を停止する',
    manage: '配信の設定',
    topic: {
      reason: 'このメールは {name} の「{topic}」を購読されている方にお送りしています。',
      unsubscribe: 'このトピックの配信を停止する',
      manage: '受け取る内容を選ぶ',
    },
  },
  archive: { title: 'ニュースレターのバックナンバー', empty: 'まだ何もありません。', older: '以前の号' },
};
