import type { LanguageTexts } from '../language-texts.ts';

export const he: LanguageTexts = {
  direction: 'rtl',
  page: {
    unsubscribe: 'ביטול הרישום',
    subscribe: 'הרשמה',
    manage: 'ניהול הרישום',
    unsubscribedTitle: 'הרישום בוטל',
    subscribedTitle: 'הרישום פעיל',
    askUnsubscribe: 'האם להפסיק את משלוח הניוזלטרים של {name} אל {email}?',
    askSubscribe: 'האם לשלוח את הניוזלטרים של {name} אל {email}?',
    isUnsubscribed: 'הניוזלטרים של {name} לא יישלחו עוד אל {email}.',
    isSubscribed: 'הניוזלטרים של {name} נשלחים אל {email}.',
    isGone: 'הכתובת הזאת כבר אינה ברשימה.',
    tooOften: 'הרישום שונה יותר מדי פעמים היום. אפשר לנסות שוב מחר.',
    notFoundTitle: 'הקישור הזה אינו פועל',
    notFound: 'ייתכן שהוא אינו שלם. אפשר לפתוח אותו שוב מתוך הודעת הדוא״ל או להעתיק את כולו.',
    linkClosed: 'הוא אינו פעיל עוד.',
  },
  footer: {
    reason: 'הודעה זו נשלחה בעקבות הרשמה לניוזלטרים של {name}.',
    unsubscribe: 'ביטול הרישום',
    manage: 'ניהול הרישום',
    topic: {
      reason: 'הודעה זו נשלחה בעקבות מעקב אחר „{topic}” של {name}.',
      unsubscribe: 'עזיבת הנושא הזה',
      manage: 'בחירת מה לקבל',
    },
  },
  archive: { title: 'ארכיון הניוזלטרים', empty: 'אין כאן עדיין כלום.', older: 'ישנים יותר' },
};
