import { TypedSearchAttributes, defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';

/**
 * The search attributes of Everpost's workflows, all Keywords, set at the start and never changed: changing one
 * rewrites the whole visibility row. No addresses: visibility is not encrypted.
 */
export const SEARCH_ATTRIBUTES = {
  projectId: 'ProjectId',
  campaignId: 'CampaignId',
  automationId: 'AutomationId',
  contactId: 'ContactId',
} as const;

/** Ids by the names of search attributes. */
export type SearchAttributeIds = Partial<Record<keyof typeof SEARCH_ATTRIBUTES, string>>;

/** The search attributes of a workflow, from the ids it concerns. */
export function searchAttributes(ids: SearchAttributeIds): TypedSearchAttributes {
  const pairs: SearchAttributePair[] = [];
  for (const [kind, value] of Object.entries(ids)) {
    const name = SEARCH_ATTRIBUTES[kind as keyof typeof SEARCH_ATTRIBUTES];
    pairs.push({ key: defineSearchAttributeKey(name, 'KEYWORD'), value });
  }
  return new TypedSearchAttributes(pairs);
}
