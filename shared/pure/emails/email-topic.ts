import type { Language } from '../languages/languages.ts';
import type { DefaultSubscription } from '../topics.ts';

/** What an email is about, as consent, its headers and its footer need it. */
export interface EmailTopic {
  id: string;
  defaultSubscription: DefaultSubscription;
  name: string;
  texts: Partial<Record<Language, { name: string }>>;
}

/** The name of a topic for a recipient who reads a language. */
export function topicNameIn({ name, texts }: EmailTopic, language: Language): string {
  return texts[language]?.name ?? name;
}
