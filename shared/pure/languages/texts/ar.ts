import type { LanguageTexts } from '../language-texts.ts';

export const ar: LanguageTexts = {
  direction: 'rtl',
  page: {
    unsubscribe: 'إلغاء الاشتراك',
    subscribe: 'الاشتراك',
    manage: 'إدارة الاشتراك',
    unsubscribedTitle: 'تم إلغاء الاشتراك',
    subscribedTitle: 'الاشتراك مفعّل',
    askUnsubscribe: 'إيقاف النشرات البريدية من {name} إلى {email}؟',
    askSubscribe: 'الاشتراك في النشرات البريدية من {name} على {email}؟',
    isUnsubscribed: 'لن تصل النشرات البريدية من {name} إلى {email} بعد الآن.',
    isSubscribed: 'تصل النشرات البريدية من {name} إلى {email}.',
    isGone: 'لم يعد هذا العنوان في القائمة.',
    tooOften: 'تم تغيير الاشتراك مرات كثيرة اليوم. يرجى المحاولة مرة أخرى غدًا.',
    notFoundTitle: 'هذا الرابط لا يعمل',
    notFound: 'قد يكون الرابط غير مكتمل. يرجى فتحه مرة أخرى من رسالة البريد الإلكتروني أو نسخه كاملًا.',
    linkClosed: 'لم يعد الرابط نشطًا.',
  },
  footer: {
    reason: 'وصلتك هذه الرسالة بسبب الاشتراك في النشرات البريدية من {name}.',
    unsubscribe: 'إلغاء الاشتراك',
    manage: 'إدارة الاشتراك',
    topic: {
      reason: 'وصلتك هذه الرسالة بسبب متابعة «{topic}» من {name}.',
      unsubscribe: 'مغادرة هذا الموضوع',
      manage: 'اختيار ما يصلك',
    },
  },
  archive: { title: 'أرشيف النشرات', empty: 'لا يوجد شيء هنا بعد.', older: 'الأقدم' },
};
