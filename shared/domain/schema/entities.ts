import {
  AutomationEntity,
  AutomationStepEntity,
  AutomationTransitionEntity,
} from '../automations/automation.entity.ts';
import { CampaignEntity } from '../campaigns/campaign.entity.ts';
import { ContactEntity } from '../contacts/contact.entity.ts';
import { KeyEntity } from '../projects/key.entity.ts';
import { ProjectEntity } from '../projects/project.entity.ts';
import { SegmentEntity } from '../segments/segment.entity.ts';
import { SenderDomainEntity } from '../domains/sender-domain.entity.ts';
import { TemplateEntity } from '../templates/template.entity.ts';
import { TopicEntity } from '../topics/topic.entity.ts';

/** Every entity, named one by one: a folder scan would find files by accident. */
export const entities = [
  AutomationEntity,
  AutomationStepEntity,
  AutomationTransitionEntity,
  CampaignEntity,
  ContactEntity,
  KeyEntity,
  ProjectEntity,
  SegmentEntity,
  SenderDomainEntity,
  TemplateEntity,
  TopicEntity,
];
