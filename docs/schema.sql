-- Generated from the migrations by `npm run schema`. Do not edit.

create table address_hash_key (
  is_only boolean not null default true,
  inner_pad bytea not null,
  outer_pad bytea not null,
  constraint address_hash_key_pkey PRIMARY KEY (is_only),
  constraint address_hash_key_is_only_check CHECK (is_only)
);

create table allowance (
  subject text not null,
  provider text not null,
  state jsonb not null,
  used_at timestamp(3) with time zone not null default now(),
  constraint allowance_pkey PRIMARY KEY (subject, provider)
);
CREATE INDEX allowance_used_at ON allowance USING btree (used_at);

create table api_key (
  id uuid not null,
  project_id uuid not null,
  name text not null,
  role text not null,
  key_hash text not null,
  is_first boolean not null default false,
  sender_domains text[],
  expires_at timestamp(3) with time zone,
  last_used_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint api_key_key_hash_key UNIQUE (key_hash),
  constraint api_key_pkey PRIMARY KEY (id),
  constraint api_key_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE,
  constraint api_key_role_check CHECK ((role = ANY (ARRAY['full'::text, 'send'::text, 'marketing'::text, 'support'::text, 'read'::text, 'track'::text])))
);
CREATE INDEX api_key_by_project ON api_key USING btree (project_id, created_at, id);
CREATE UNIQUE INDEX api_key_first ON api_key USING btree (project_id, role) WHERE is_first;

create table attachment (
  set_id uuid not null,
  position smallint not null,
  filename text not null,
  content_type text not null,
  content_id text,
  disposition text not null,
  content bytea not null,
  created_at timestamp(3) with time zone not null default now(),
  submission jsonb,
  constraint attachment_pkey PRIMARY KEY (set_id, "position"),
  constraint attachment_disposition_check CHECK ((disposition = ANY (ARRAY['attachment'::text, 'inline'::text])))
);

create table audit_entry (
  id uuid not null,
  project_id uuid,
  actor text not null,
  key_id uuid,
  key_name text,
  operation text not null,
  subject_ids uuid[] not null default '{}'::uuid[],
  status smallint not null,
  request_id text,
  created_at timestamp(3) with time zone not null default now(),
  constraint audit_entry_pkey PRIMARY KEY (id),
  constraint audit_entry_actor_check CHECK ((actor = ANY (ARRAY['key'::text, 'console'::text, 'operator'::text])))
);
CREATE INDEX audit_entry_by_project ON audit_entry USING btree (project_id, created_at, id);
CREATE INDEX audit_entry_by_subject ON audit_entry USING gin (subject_ids);

create table automation (
  id uuid not null,
  project_id uuid not null,
  name text not null,
  description text,
  enabled boolean not null default false,
  trigger_type text not null default 'EVENT'::text,
  trigger_event text not null,
  allow_reentry boolean not null default false,
  graph_id uuid,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  trigger_human_only boolean not null default false,
  constraint automation_pkey PRIMARY KEY (id),
  constraint automation_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE,
  constraint automation_trigger_type_check CHECK ((trigger_type = ANY (ARRAY['EVENT'::text, 'MANUAL'::text])))
);
CREATE INDEX automation_by_creation ON automation USING btree (project_id, created_at, id);
CREATE INDEX automation_by_trigger ON automation USING btree (project_id, trigger_event) WHERE (enabled AND (trigger_type = 'EVENT'::text));

create table automation_execution (
  id uuid not null,
  project_id uuid not null,
  automation_id uuid not null,
  graph_id uuid not null,
  contact_id uuid not null,
  status text not null default 'RUNNING'::text,
  is_first boolean not null,
  step_number integer not null default 0,
  current_step_id uuid,
  resume_at timestamp(3) with time zone,
  exit_reason text,
  context jsonb not null default '{}'::jsonb,
  temporal_run_id text,
  started_at timestamp(3) with time zone not null,
  completed_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  depth smallint not null default 1,
  is_stripped boolean not null default false,
  constraint automation_execution_pkey PRIMARY KEY (id),
  constraint automation_execution_status_check CHECK ((status = ANY (ARRAY['RUNNING'::text, 'WAITING'::text, 'COMPLETED'::text, 'EXITED'::text, 'FAILED'::text, 'CANCELLED'::text])))
);
CREATE UNIQUE INDEX automation_execution_active ON automation_execution USING btree (automation_id, contact_id) WHERE (status = ANY (ARRAY['RUNNING'::text, 'WAITING'::text]));
CREATE INDEX automation_execution_by_completion ON automation_execution USING btree (project_id, completed_at, id) WHERE (completed_at IS NOT NULL);
CREATE INDEX automation_execution_by_contact ON automation_execution USING btree (contact_id, automation_id, started_at);
CREATE INDEX automation_execution_by_creation ON automation_execution USING btree (automation_id, created_at, id);
CREATE INDEX automation_execution_by_project ON automation_execution USING btree (project_id, started_at);
CREATE INDEX automation_execution_by_status ON automation_execution USING btree (automation_id, status, created_at, id) WHERE (completed_at IS NOT NULL);
CREATE INDEX automation_execution_due ON automation_execution USING btree (resume_at) WHERE (status = 'WAITING'::text);
CREATE UNIQUE INDEX automation_execution_first ON automation_execution USING btree (automation_id, contact_id) WHERE is_first;
CREATE INDEX automation_execution_running ON automation_execution USING btree (updated_at) WHERE (status = 'RUNNING'::text);
CREATE INDEX automation_execution_to_strip ON automation_execution USING btree (project_id, completed_at) WHERE ((completed_at IS NOT NULL) AND (NOT is_stripped));
CREATE TRIGGER executions_deleted AFTER DELETE ON automation_execution REFERENCING OLD TABLE AS former FOR EACH STATEMENT EXECUTE FUNCTION everpost_count_ended_executions();
CREATE TRIGGER executions_ended AFTER UPDATE ON automation_execution REFERENCING OLD TABLE AS former NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION everpost_count_ended_executions();
CREATE TRIGGER executions_inserted AFTER INSERT ON automation_execution REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION everpost_count_ended_executions();
CREATE TRIGGER webhook_feed_of_ended AFTER UPDATE ON automation_execution FOR EACH ROW WHEN (((new.completed_at IS NOT NULL) AND (new.completed_at IS DISTINCT FROM old.completed_at))) EXECUTE FUNCTION everpost_feed_event('4');
CREATE TRIGGER webhook_feed_of_started AFTER INSERT ON automation_execution REFERENCING NEW TABLE AS recorded FOR EACH STATEMENT EXECUTE FUNCTION everpost_feed_events('3');

create table automation_graph (
  id uuid not null,
  automation_id uuid not null,
  graph jsonb not null,
  created_at timestamp(3) with time zone not null,
  constraint automation_graph_pkey PRIMARY KEY (id),
  constraint automation_graph_automation_id_fkey FOREIGN KEY (automation_id) REFERENCES automation(id) ON DELETE CASCADE
);
CREATE INDEX automation_graph_by_automation ON automation_graph USING btree (automation_id);

create table automation_refusal (
  id uuid not null,
  project_id uuid not null,
  automation_id uuid not null,
  contact_id uuid not null,
  reason text not null,
  hour timestamp(0) with time zone not null,
  count integer not null,
  event_id uuid not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint automation_refusal_contact_id_automation_id_reason_hour_key UNIQUE (contact_id, automation_id, reason, hour),
  constraint automation_refusal_pkey PRIMARY KEY (id),
  constraint automation_refusal_reason_check CHECK ((reason = ANY (ARRAY['CHAIN_TOO_LONG'::text, 'TOO_OFTEN'::text])))
);
CREATE INDEX automation_refusal_by_age ON automation_refusal USING btree (created_at);
CREATE INDEX automation_refusal_by_creation ON automation_refusal USING btree (project_id, created_at, id);
CREATE TRIGGER webhook_feed_of_refusals AFTER INSERT ON automation_refusal REFERENCING NEW TABLE AS recorded FOR EACH STATEMENT EXECUTE FUNCTION everpost_feed_events('5');

create table automation_step (
  id uuid not null,
  automation_id uuid not null,
  type text not null,
  name text not null,
  position_x double precision not null default 0,
  position_y double precision not null default 0,
  config jsonb not null default '{}'::jsonb,
  template_id uuid,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint automation_step_pkey PRIMARY KEY (id),
  constraint automation_step_automation_id_fkey FOREIGN KEY (automation_id) REFERENCES automation(id) ON DELETE CASCADE,
  constraint automation_step_type_check CHECK ((type = ANY (ARRAY['TRIGGER'::text, 'SEND_EMAIL'::text, 'DELAY'::text, 'WAIT_FOR_EVENT'::text, 'CONDITION'::text, 'WEBHOOK'::text, 'UPDATE_CONTACT'::text, 'EXIT'::text])))
);
CREATE INDEX automation_step_by_automation ON automation_step USING btree (automation_id);
CREATE INDEX automation_step_by_template ON automation_step USING btree (template_id) WHERE (template_id IS NOT NULL);
CREATE UNIQUE INDEX automation_step_trigger ON automation_step USING btree (automation_id) WHERE (type = 'TRIGGER'::text);

create table automation_transition (
  id uuid not null,
  automation_id uuid not null,
  from_step_id uuid not null,
  to_step_id uuid not null,
  branch text,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint automation_transition_pkey PRIMARY KEY (id),
  constraint automation_transition_automation_id_fkey FOREIGN KEY (automation_id) REFERENCES automation(id) ON DELETE CASCADE,
  constraint automation_transition_from_step_id_fkey FOREIGN KEY (from_step_id) REFERENCES automation_step(id) ON DELETE CASCADE,
  constraint automation_transition_to_step_id_fkey FOREIGN KEY (to_step_id) REFERENCES automation_step(id) ON DELETE CASCADE,
  constraint automation_transition_branch_check CHECK ((branch = ANY (ARRAY['yes'::text, 'no'::text, 'event'::text, 'timeout'::text])))
);
CREATE UNIQUE INDEX automation_transition_branch ON automation_transition USING btree (from_step_id, COALESCE(branch, ''::text));
CREATE INDEX automation_transition_by_automation ON automation_transition USING btree (automation_id);

create table blocked_link (
  subject text not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint blocked_link_pkey PRIMARY KEY (subject)
);

create table campaign (
  id uuid not null,
  project_id uuid not null,
  name text not null,
  description text,
  subject text not null,
  body text not null,
  from_address text not null,
  from_name text,
  reply_to text,
  type text not null default 'MARKETING'::text,
  status text not null default 'DRAFT'::text,
  audience_type text not null,
  audience_condition jsonb,
  segment_id uuid,
  scheduled_for timestamp(3) with time zone,
  total_recipients integer not null default 0,
  sent_count integer not null default 0,
  failed_count integer not null default 0,
  skipped_count integer not null default 0,
  delivered_count integer not null default 0,
  opened_count integer not null default 0,
  clicked_count integer not null default 0,
  bounced_count integer not null default 0,
  complained_count integer not null default 0,
  unsubscribed_count integer not null default 0,
  sent_at timestamp(3) with time zone,
  audience_as_of timestamp(3) with time zone,
  audience_cursor uuid,
  audience_frozen boolean not null default false,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  suppressed_count integer not null default 0,
  scheduled_at timestamp(3) with time zone,
  error text,
  waiting jsonb,
  complaints_accepted boolean not null default false,
  paused_at timestamp(3) with time zone,
  resend_states text[],
  resend_as_of timestamp(3) with time zone,
  resend_after_seq integer not null default 0,
  preheader text,
  body_text text,
  topic_id uuid,
  is_public boolean not null default false,
  human_opened_count integer not null default 0,
  human_clicked_count integer not null default 0,
  audience_order text,
  audience_before timestamp(3) with time zone,
  audience_segments jsonb,
  constraint campaign_pkey PRIMARY KEY (id),
  constraint campaign_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE,
  constraint campaign_audience_type_check CHECK ((audience_type = ANY (ARRAY['ALL'::text, 'SEGMENT'::text, 'FILTERED'::text]))),
  constraint campaign_status_check CHECK ((status = ANY (ARRAY['DRAFT'::text, 'SCHEDULED'::text, 'SENDING'::text, 'SENT'::text, 'CANCELLED'::text]))),
  constraint campaign_type_check CHECK ((type = ANY (ARRAY['TRANSACTIONAL'::text, 'MARKETING'::text, 'HEADLESS'::text])))
);
CREATE INDEX campaign_by_creation ON campaign USING btree (project_id, created_at, id);
CREATE INDEX campaign_by_reply_to ON campaign USING btree (lower(reply_to)) WHERE (reply_to IS NOT NULL);
CREATE INDEX campaign_by_scheduled_at ON campaign USING btree (project_id, scheduled_at, id) WHERE (scheduled_at IS NOT NULL);
CREATE INDEX campaign_by_segment ON campaign USING btree (segment_id) WHERE (segment_id IS NOT NULL);
CREATE INDEX campaign_by_sent_at ON campaign USING btree (project_id, sent_at, id) WHERE (sent_at IS NOT NULL);
CREATE INDEX campaign_by_topic ON campaign USING btree (topic_id) WHERE (topic_id IS NOT NULL);
CREATE INDEX campaign_public ON campaign USING btree (project_id, sent_at, id) WHERE (is_public AND (sent_at IS NOT NULL));
CREATE INDEX campaign_sending ON campaign USING btree (id) WHERE (status = 'SENDING'::text);
CREATE TRIGGER webhook_feed_of_scheduled AFTER UPDATE ON campaign FOR EACH ROW WHEN (((new.scheduled_at IS NOT NULL) AND (new.scheduled_at IS DISTINCT FROM old.scheduled_at))) EXECUTE FUNCTION everpost_feed_event('1');
CREATE TRIGGER webhook_feed_of_sent AFTER UPDATE ON campaign FOR EACH ROW WHEN (((new.sent_at IS NOT NULL) AND (new.sent_at IS DISTINCT FROM old.sent_at))) EXECUTE FUNCTION everpost_feed_event('2');

create table campaign_page (
  campaign_id uuid not null,
  first_seq integer not null,
  claim_token uuid not null,
  constraint campaign_page_pkey PRIMARY KEY (campaign_id, first_seq),
  constraint campaign_page_campaign_id_fkey FOREIGN KEY (campaign_id) REFERENCES campaign(id) ON DELETE CASCADE
);

create table confirmation_mail (
  project_id uuid not null,
  address_hash bytea not null,
  queued_at timestamp(3) with time zone not null default now(),
  constraint confirmation_mail_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE
);
CREATE INDEX confirmation_mail_by_address ON confirmation_mail USING btree (project_id, address_hash, queued_at);
CREATE INDEX confirmation_mail_by_mailbox ON confirmation_mail USING btree (address_hash, queued_at);
CREATE INDEX confirmation_mail_by_time ON confirmation_mail USING btree (queued_at);

create table consent_record (
  contact_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  topic_id uuid,
  state text not null,
  cause text not null,
  details jsonb not null default '{}'::jsonb,
  email_id uuid,
  campaign_id uuid,
  client_address text,
  wording_id text,
  created_at timestamp(3) with time zone not null default now(),
  constraint consent_record_pkey PRIMARY KEY (contact_id, id),
  constraint consent_record_state_check CHECK ((state = ANY (ARRAY['subscribed'::text, 'unsubscribed'::text, 'pending'::text, 'expired'::text, 'paused'::text, 'resumed'::text, 'tracking_allowed'::text, 'tracking_denied'::text])))
);
CREATE INDEX consent_record_by_time ON consent_record USING brin (created_at);
CREATE INDEX consent_record_by_wording ON consent_record USING btree (wording_id) WHERE (wording_id IS NOT NULL);

create table contact (
  id uuid not null,
  project_id uuid not null,
  email text not null,
  subscribed boolean not null,
  opted_out_at timestamp(3) with time zone,
  data jsonb not null default '{}'::jsonb,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  changed_depth smallint,
  changed_depth_at timestamp(3) with time zone,
  bounced_email_id uuid,
  is_pending boolean not null default false,
  paused_until timestamp(3) with time zone,
  tracking_allowed boolean,
  constraint contact_project_id_email_key UNIQUE (project_id, email),
  constraint contact_pkey PRIMARY KEY (id)
);
CREATE INDEX contact_by_creation ON contact USING btree (project_id, created_at, id);
CREATE INDEX contact_by_id ON contact USING btree (project_id, id);
CREATE TRIGGER contact_data_limit BEFORE INSERT OR UPDATE OF data ON contact FOR EACH ROW WHEN ((pg_column_size(new.data) > 4000)) EXECUTE FUNCTION everpost_check_contact_data();
CREATE TRIGGER contact_former_address AFTER UPDATE OF email ON contact FOR EACH ROW WHEN ((old.email <> new.email)) EXECUTE FUNCTION everpost_note_former_address();

create table contact_field (
  project_id uuid not null,
  key text not null,
  type text not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint contact_field_pkey PRIMARY KEY (project_id, key),
  constraint contact_field_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE,
  constraint contact_field_type_check CHECK ((type = ANY (ARRAY['string'::text, 'number'::text, 'boolean'::text, 'date'::text])))
);
CREATE TRIGGER contact_fields_limit AFTER INSERT ON contact_field REFERENCING NEW TABLE AS noted FOR EACH STATEMENT EXECUTE FUNCTION everpost_check_contact_fields();

create table email (
  id uuid not null,
  project_id uuid not null,
  contact_id uuid,
  campaign_id uuid,
  campaign_seq integer,
  template_id uuid,
  to_address text,
  subject text,
  status text not null,
  deferrals smallint not null default 0,
  claim_token uuid,
  error text,
  created_at timestamp(3) with time zone not null,
  sent_at timestamp(3) with time zone,
  delivered_at timestamp(3) with time zone,
  opened_at timestamp(3) with time zone,
  clicked_at timestamp(3) with time zone,
  bounced_at timestamp(3) with time zone,
  complained_at timestamp(3) with time zone,
  automation_id uuid,
  execution_id uuid,
  opens integer not null default 0,
  clicks integer not null default 0,
  unsubscribed_at timestamp(3) with time zone,
  delivery_id uuid,
  delivery_due_at timestamp(3) with time zone,
  uncertain_attempts smallint not null default 0,
  retry_at timestamp(3) with time zone,
  erased_contact_id uuid,
  refusal jsonb,
  held_at timestamp(3) with time zone,
  attempts jsonb,
  trouble text default 
CASE
    WHEN (status = ANY (ARRAY['BOUNCED'::text, 'COMPLAINED'::text, 'FAILED'::text, 'SKIPPED'::text, 'SUPPRESSED'::text, 'CANCELLED'::text])) THEN status
    ELSE NULL::text
END,
  wait_reason text,
  topic_id uuid,
  human_opened_at timestamp(3) with time zone,
  human_clicked_at timestamp(3) with time zone,
  key_id uuid,
  tags jsonb,
  scheduled_at timestamp(3) with time zone,
  carrier text,
  answered jsonb,
  constraint email_pkey PRIMARY KEY (id),
  constraint email_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'SENDING'::text, 'SENT'::text, 'DELIVERED'::text, 'OPENED'::text, 'CLICKED'::text, 'BOUNCED'::text, 'COMPLAINED'::text, 'FAILED'::text, 'SKIPPED'::text, 'SUPPRESSED'::text, 'CANCELLED'::text])))
);
CREATE INDEX email_by_creation ON email USING btree (project_id, created_at, id);
CREATE INDEX email_by_hard_bounce ON email USING btree (project_id, bounced_at, id) WHERE ((bounced_at IS NOT NULL) AND ((refusal ->> 'kind'::text) = 'hard'::text) AND ((refusal ->> 'undoneAt'::text) IS NULL));
CREATE INDEX email_by_schedule ON email USING btree (project_id, scheduled_at) WHERE (scheduled_at IS NOT NULL);
CREATE INDEX email_by_trouble ON email USING btree (project_id, trouble, created_at, id) WHERE (trouble IS NOT NULL);
CREATE UNIQUE INDEX email_campaign_contact ON email USING btree (campaign_id, contact_id) WHERE (campaign_id IS NOT NULL);
CREATE UNIQUE INDEX email_campaign_seq ON email USING btree (campaign_id, campaign_seq) WHERE (campaign_id IS NOT NULL);
CREATE INDEX email_delivery_due ON email USING btree (delivery_due_at) WHERE (delivery_due_at IS NOT NULL);
CREATE INDEX email_of_automation ON email USING btree (automation_id, created_at, id) WHERE (automation_id IS NOT NULL);
CREATE INDEX email_of_contact ON email USING btree (contact_id, created_at, id) WHERE (contact_id IS NOT NULL);
CREATE INDEX email_of_delivery ON email USING btree (delivery_id) WHERE ((delivery_id IS NOT NULL) AND (delivery_due_at IS NOT NULL));
CREATE INDEX email_of_template ON email USING btree (template_id, created_at, id) WHERE (template_id IS NOT NULL);
CREATE INDEX email_trouble_of_campaign ON email USING btree (campaign_id, trouble, campaign_seq) WHERE (trouble IS NOT NULL);
CREATE INDEX email_without_contact ON email USING btree (hashtextextended(to_address, uuid_hash_extended(project_id, (0)::bigint)), created_at, id) WHERE ((contact_id IS NULL) AND (to_address IS NOT NULL));

create table email_content (
  email_id uuid not null,
  from_address text not null,
  from_name text,
  to_name text,
  reply_to text,
  html text not null,
  body_text text not null,
  headers jsonb not null default '[]'::jsonb,
  attachment_set_id uuid,
  created_at timestamp(3) with time zone not null,
  addressed jsonb,
  constraint email_content_pkey PRIMARY KEY (email_id),
  constraint email_content_email_id_fkey FOREIGN KEY (email_id) REFERENCES email(id) ON DELETE CASCADE
);
CREATE INDEX email_content_by_attachments ON email_content USING btree (attachment_set_id) WHERE (attachment_set_id IS NOT NULL);

create table ended_execution_count (
  id uuid not null default gen_random_uuid(),
  automation_id uuid not null,
  status text not null,
  count bigint not null,
  constraint ended_execution_count_pkey PRIMARY KEY (automation_id, id)
);

create table erased_contact (
  contact_id uuid not null,
  project_id uuid not null,
  address_hash bytea not null,
  address text,
  successor_id uuid,
  erased_at timestamp(3) with time zone not null default now(),
  began_at timestamp with time zone,
  due_at timestamp with time zone default now(),
  constraint erased_contact_pkey PRIMARY KEY (contact_id)
);
CREATE INDEX erased_contact_by_address ON erased_contact USING btree (project_id, address_hash);
CREATE INDEX erased_contact_by_time ON erased_contact USING btree (project_id, erased_at);
CREATE INDEX erased_contact_due ON erased_contact USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

create table event (
  id uuid not null,
  project_id uuid not null,
  contact_id uuid,
  email_id uuid,
  name text not null,
  data jsonb not null default '{}'::jsonb,
  created_at timestamp(3) with time zone not null,
  recorded_at timestamp with time zone not null default now(),
  constraint event_pkey PRIMARY KEY (id)
);
CREATE INDEX event_by_contact ON event USING btree (contact_id, name, created_at);
CREATE INDEX event_by_creation ON event USING btree (project_id, created_at, id);
CREATE INDEX event_by_name ON event USING btree (project_id, name, created_at);
CREATE INDEX event_first_of_human ON event USING btree (project_id, name, created_at) WHERE (((data ->> 'isFirstHumanOpen'::text) IS NOT NULL) OR ((data ->> 'isFirstHumanClick'::text) IS NOT NULL));
CREATE INDEX event_first_of_mail ON event USING btree (project_id, name, created_at) WHERE (((name = 'email.open'::text) AND ((data ->> 'isFirstOpen'::text) = 'true'::text)) OR ((name = 'email.click'::text) AND ((data ->> 'isFirstClick'::text) = 'true'::text)) OR ((name = 'email.bounce'::text) AND ((data ->> 'bounceType'::text) = 'hard'::text)));
CREATE INDEX event_of_email_without_contact ON event USING btree (email_id) WHERE ((contact_id IS NULL) AND (email_id IS NOT NULL));
CREATE TRIGGER event_names AFTER INSERT ON event REFERENCING NEW TABLE AS recorded FOR EACH STATEMENT EXECUTE FUNCTION everpost_note_event_names();
CREATE TRIGGER webhook_feed_of_events AFTER INSERT ON event REFERENCING NEW TABLE AS recorded FOR EACH STATEMENT EXECUTE FUNCTION everpost_feed_events('0');

create table event_name (
  project_id uuid not null,
  name text not null,
  constraint event_name_pkey PRIMARY KEY (project_id, name)
);

create table event_wait (
  execution_id uuid not null,
  project_id uuid not null,
  contact_id uuid not null,
  event_name text not null,
  event_id uuid,
  event_data jsonb,
  resolved_at timestamp(3) with time zone,
  human_only boolean not null default false,
  constraint event_wait_pkey PRIMARY KEY (execution_id)
);
CREATE INDEX event_wait_open ON event_wait USING btree (contact_id, event_name) WHERE (event_id IS NULL);
CREATE INDEX event_wait_resolved ON event_wait USING btree (resolved_at) WHERE (resolved_at IS NOT NULL);

create table former_address (
  contact_id uuid not null,
  project_id uuid not null,
  address_hash bytea not null,
  address_key bigint not null,
  constraint former_address_pkey PRIMARY KEY (contact_id, address_hash)
);
CREATE INDEX former_address_by_hash ON former_address USING btree (project_id, address_hash, contact_id);

create table former_failure (
  execution_id uuid not null,
  last_no bigint not null,
  completed_at timestamp(3) with time zone not null,
  exit_reason text,
  constraint former_failure_pkey PRIMARY KEY (execution_id, last_no),
  constraint former_failure_execution_id_fkey FOREIGN KEY (execution_id) REFERENCES automation_execution(id) ON DELETE CASCADE
);

create table idempotency_claim (
  project_id uuid not null,
  key text not null,
  request text not null,
  status_code smallint,
  created_at timestamp(3) with time zone not null,
  token uuid,
  owner text,
  constraint idempotency_claim_pkey PRIMARY KEY (project_id, key)
);
CREATE INDEX idempotency_claim_by_age ON idempotency_claim USING btree (created_at);

create table imported_consent (
  id uuid not null,
  project_id uuid not null,
  job_id uuid not null,
  first_contact_id uuid not null,
  last_contact_id uuid not null,
  except_ids uuid[] not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint imported_consent_pkey PRIMARY KEY (id),
  constraint imported_consent_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE
);
CREATE INDEX imported_consent_by_time ON imported_consent USING btree (project_id, created_at);

create table job (
  id uuid not null,
  project_id uuid not null,
  kind text not null,
  state text not null default 'waiting'::text,
  input jsonb not null default '{}'::jsonb,
  position integer not null default 0,
  total integer,
  counts jsonb not null default '{}'::jsonb,
  errors jsonb not null default '[]'::jsonb,
  failed_reason text,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  constraint job_pkey PRIMARY KEY (id),
  constraint job_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE,
  constraint job_kind_check CHECK ((kind = ANY (ARRAY['IMPORT'::text, 'SUBSCRIBE'::text, 'UNSUBSCRIBE'::text, 'DELETE'::text, 'DELETE_FIELD'::text, 'CANCEL_EXECUTIONS'::text, 'DELETE_EXECUTIONS'::text, 'RETRY_EXECUTIONS'::text]))),
  constraint job_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'active'::text, 'completed'::text, 'failed'::text])))
);
CREATE INDEX job_by_project ON job USING btree (project_id);
CREATE INDEX job_by_state ON job USING btree (state, updated_at);

create table job_file (
  job_id uuid not null,
  content bytea not null,
  constraint job_file_pkey PRIMARY KEY (job_id),
  constraint job_file_job_id_fkey FOREIGN KEY (job_id) REFERENCES job(id) ON DELETE CASCADE
);

create table known_namespace (
  is_only boolean not null default true,
  namespace_id text not null,
  name text not null,
  address text not null,
  adopted_at timestamp(3) with time zone not null default now(),
  constraint known_namespace_pkey PRIMARY KEY (is_only),
  constraint known_namespace_is_only_check CHECK (is_only)
);

create table known_secret (
  secret_id text not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint known_secret_pkey PRIMARY KEY (secret_id)
);

create table mta_sts_policy (
  domain text not null,
  policy jsonb not null,
  expires_at timestamp with time zone not null,
  constraint mta_sts_policy_pkey PRIMARY KEY (domain)
);

create table opt_in (
  id uuid not null,
  project_id uuid not null,
  contact_id uuid not null,
  topic_ids uuid[] not null default '{}'::uuid[],
  state text not null default 'pending'::text,
  language text,
  data jsonb not null default '{}'::jsonb,
  client_address text,
  wording_id text,
  is_first boolean not null,
  mails smallint not null default 0,
  is_mail_wanted boolean not null default true,
  remind_at timestamp(3) with time zone,
  due_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone not null,
  confirmed_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  constraint opt_in_pkey PRIMARY KEY (id),
  constraint opt_in_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE,
  constraint opt_in_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'confirmed'::text, 'expired'::text])))
);
CREATE INDEX opt_in_by_contact ON opt_in USING btree (contact_id, created_at);
CREATE INDEX opt_in_by_project ON opt_in USING btree (project_id, created_at, id);
CREATE INDEX opt_in_due ON opt_in USING btree (due_at) WHERE (state = 'pending'::text);
CREATE INDEX opt_in_ended ON opt_in USING btree (expires_at) WHERE (state <> 'pending'::text);
CREATE UNIQUE INDEX opt_in_pending ON opt_in USING btree (contact_id) WHERE (state = 'pending'::text);

create table outbox (
  id uuid not null,
  project_id uuid not null,
  kind text not null,
  subject_id uuid not null,
  batch_id uuid,
  attempts integer not null default 0,
  available_at timestamp with time zone not null default now(),
  last_error text,
  is_restart boolean not null default false,
  constraint outbox_pkey PRIMARY KEY (id)
);
CREATE INDEX outbox_by_batch ON outbox USING btree (batch_id) WHERE (batch_id IS NOT NULL);
CREATE INDEX outbox_lapsing ON outbox USING btree (kind, project_id, available_at) WHERE (batch_id IS NOT NULL);
CREATE INDEX outbox_new ON outbox USING btree (kind, project_id, id) WHERE (batch_id IS NULL);

create table project (
  id uuid not null,
  name text not null,
  public_key text not null,
  secret_key_hash text not null,
  disabled boolean not null default false,
  tracking text not null default 'MARKETING_ONLY'::text,
  emails_per_second integer,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  webhook_secret text not null default ('whsec_'::text || encode((uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 'base64'::text)),
  track_accepts_secret_key boolean not null default false,
  display_name text,
  postal_address text,
  logo_url text,
  language text,
  public_key_rules jsonb,
  double_opt_in jsonb,
  client_addresses text not null default 'SHORTENED'::text,
  pools jsonb,
  traffic_rules jsonb,
  brand_color text,
  constraint project_public_key_key UNIQUE (public_key),
  constraint project_secret_key_hash_key UNIQUE (secret_key_hash),
  constraint project_pkey PRIMARY KEY (id),
  constraint project_client_addresses_check CHECK ((client_addresses = ANY (ARRAY['FULL'::text, 'SHORTENED'::text, 'NONE'::text]))),
  constraint project_emails_per_second_check CHECK ((emails_per_second >= 0)),
  constraint project_tracking_check CHECK ((tracking = ANY (ARRAY['MARKETING_ONLY'::text, 'ENABLED'::text, 'DISABLED'::text, 'CONSENTED'::text])))
);
CREATE TRIGGER project_first_keys AFTER INSERT OR UPDATE OF public_key, secret_key_hash ON project FOR EACH ROW EXECUTE FUNCTION everpost_keep_first_keys();

create table project_permit (
  project_id uuid not null,
  next_free_at timestamp(6) with time zone,
  urgent_free_at timestamp(6) with time zone,
  holds jsonb not null default '{}'::jsonb,
  constraint project_permit_pkey PRIMARY KEY (project_id)
);

create table provider_day (
  project_id uuid not null,
  provider text not null,
  day date not null,
  sent integer not null default 0,
  complained integer not null default 0,
  constraint provider_day_pkey PRIMARY KEY (project_id, provider, day)
);
CREATE INDEX provider_day_complained ON provider_day USING btree (project_id, day) WHERE (complained > 0);

create table provider_health (
  relay text not null,
  provider text not null,
  state jsonb not null,
  constraint provider_health_pkey PRIMARY KEY (relay, provider)
);

create table rate_window (
  project_id uuid not null,
  window_start timestamp(0) with time zone not null,
  used integer not null,
  public_used integer not null default 0,
  constraint rate_window_pkey PRIMARY KEY (project_id)
);

create table reply_address (
  address text not null,
  project_id uuid not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint reply_address_pkey PRIMARY KEY (address),
  constraint reply_address_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE
);
CREATE INDEX reply_address_by_project ON reply_address USING btree (project_id);

create table rules_in_use (
  digest text not null,
  ends_at timestamp(3) with time zone not null default now(),
  emails_per_second double precision,
  constraint rules_in_use_pkey PRIMARY KEY (digest)
);

create table segment (
  id uuid not null,
  project_id uuid not null,
  name text not null,
  description text,
  type text not null default 'DYNAMIC'::text,
  condition jsonb,
  track_membership boolean not null default false,
  member_count integer not null default 0,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  computed_at timestamp(3) with time zone,
  compute_error text,
  compute_error_at timestamp(3) with time zone,
  compute_failures smallint not null default 0,
  retry_at timestamp(3) with time zone,
  refreshed_at timestamp(3) with time zone,
  constraint segment_pkey PRIMARY KEY (id),
  constraint segment_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE,
  constraint segment_type_check CHECK ((type = ANY (ARRAY['DYNAMIC'::text, 'STATIC'::text])))
);
CREATE INDEX segment_by_creation ON segment USING btree (project_id, created_at, id);

create table segment_member (
  segment_id uuid not null,
  contact_id uuid not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint segment_member_pkey PRIMARY KEY (segment_id, contact_id),
  constraint segment_member_segment_id_fkey FOREIGN KEY (segment_id) REFERENCES segment(id) ON DELETE CASCADE
);
CREATE INDEX segment_member_by_contact ON segment_member USING btree (contact_id);

create table sender_domain (
  id uuid not null,
  project_id uuid not null,
  domain text not null,
  verified boolean not null default false,
  verified_at timestamp(3) with time zone,
  last_checked_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  trusted boolean not null default false,
  dns_verified boolean not null default false,
  return_path boolean not null default false,
  failed_checks smallint not null default 0,
  unanswered_checks smallint not null default 0,
  next_check_at timestamp(3) with time zone not null default now(),
  records_found text[] not null default '{}'::text[],
  dkim_selector text,
  dkim_public_key text,
  dkim_private_key bytea,
  constraint sender_domain_project_id_domain_key UNIQUE (project_id, domain),
  constraint sender_domain_pkey PRIMARY KEY (id),
  constraint sender_domain_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE,
  constraint sender_domain_check CHECK ((verified = (trusted OR dns_verified))),
  constraint sender_domain_check1 CHECK ((num_nulls(dkim_selector, dkim_public_key, dkim_private_key) = ANY (ARRAY[0, 3]))),
  constraint sender_domain_check2 CHECK (((NOT dns_verified) OR (dkim_selector IS NOT NULL)))
);
CREATE INDEX sender_domain_by_next_check ON sender_domain USING btree (next_check_at);

create table source (
  name text not null,
  kind text not null,
  pool text not null,
  relay text not null,
  drained_at timestamp(3) with time zone,
  seen_at timestamp(3) with time zone not null default now(),
  warm_up jsonb,
  changed_at timestamp(3) with time zone,
  constraint source_pkey PRIMARY KEY (name)
);

create table source_day (
  source text not null,
  provider text not null,
  day date not null,
  offered integer not null default 0,
  accepted integer not null default 0,
  deferred_speed integer not null default 0,
  deferred_reputation integer not null default 0,
  deferred_other integer not null default 0,
  refused_mailbox integer not null default 0,
  refused_reputation integer not null default 0,
  refused_other integer not null default 0,
  complaints integer not null default 0,
  delivery_ms bigint not null default 0,
  constraint source_day_pkey PRIMARY KEY (source, provider, day)
);
CREATE INDEX source_day_day ON source_day USING btree (day, source);

create table step_execution (
  id uuid not null,
  execution_id uuid not null,
  step_number integer not null,
  step_id uuid not null,
  status text not null,
  output jsonb,
  error text,
  started_at timestamp(3) with time zone not null,
  completed_at timestamp(3) with time zone,
  constraint step_execution_execution_id_step_number_key UNIQUE (execution_id, step_number),
  constraint step_execution_pkey PRIMARY KEY (id),
  constraint step_execution_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'RUNNING'::text, 'WAITING'::text, 'COMPLETED'::text, 'SKIPPED'::text, 'FAILED'::text])))
);

create table suppression (
  project_id uuid not null,
  email text,
  reason text not null,
  email_id uuid,
  created_at timestamp(3) with time zone not null default now(),
  address_hash bytea not null,
  words text,
  constraint suppression_pkey PRIMARY KEY (project_id, address_hash),
  constraint suppression_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE,
  constraint suppression_reason_check CHECK ((reason = ANY (ARRAY['HARD_BOUNCE'::text, 'COMPLAINT'::text, 'MANUAL'::text])))
);
CREATE INDEX suppression_by_creation ON suppression USING btree (project_id, created_at, address_hash);

create table template (
  id uuid not null,
  project_id uuid not null,
  name text not null,
  description text,
  subject text not null,
  body text not null,
  from_address text not null,
  from_name text,
  reply_to text,
  type text not null default 'MARKETING'::text,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  preheader text,
  body_text text,
  topic_id uuid,
  constraint template_pkey PRIMARY KEY (id),
  constraint template_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE,
  constraint template_type_check CHECK ((type = ANY (ARRAY['TRANSACTIONAL'::text, 'MARKETING'::text, 'HEADLESS'::text])))
);
CREATE INDEX template_by_creation ON template USING btree (project_id, created_at, id);
CREATE INDEX template_by_reply_to ON template USING btree (lower(reply_to)) WHERE (reply_to IS NOT NULL);
CREATE INDEX template_by_topic ON template USING btree (topic_id) WHERE (topic_id IS NOT NULL);

create table text_piece (
  text_id uuid not null,
  position integer not null,
  piece text not null,
  constraint text_piece_pkey PRIMARY KEY (text_id, "position")
);

create table tls_result (
  day date not null,
  domain text not null,
  digest text not null,
  detail jsonb not null,
  sessions bigint not null,
  constraint tls_result_pkey PRIMARY KEY (day, domain, digest)
);

create table topic (
  id uuid not null,
  project_id uuid not null,
  key text not null,
  name text not null,
  description text,
  texts jsonb not null default '{}'::jsonb,
  default_subscription text not null,
  visibility text not null default 'public'::text,
  double_opt_in boolean,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint topic_project_id_key_key UNIQUE (project_id, key),
  constraint topic_pkey PRIMARY KEY (id),
  constraint topic_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE,
  constraint topic_default_subscription_check CHECK ((default_subscription = ANY (ARRAY['opt_in'::text, 'opt_out'::text]))),
  constraint topic_visibility_check CHECK ((visibility = ANY (ARRAY['public'::text, 'private'::text])))
);
CREATE INDEX topic_by_creation ON topic USING btree (project_id, created_at, id);

create table topic_subscription (
  topic_id uuid not null,
  contact_id uuid not null,
  subscribed boolean not null,
  updated_at timestamp(3) with time zone not null default now(),
  constraint topic_subscription_pkey PRIMARY KEY (topic_id, contact_id),
  constraint topic_subscription_topic_id_fkey FOREIGN KEY (topic_id) REFERENCES topic(id) ON DELETE CASCADE
);
CREATE INDEX topic_subscription_by_contact ON topic_subscription USING btree (contact_id);

create table trace_context (
  subject_id uuid not null,
  trace_parent text not null,
  created_at timestamp(3) with time zone not null,
  constraint trace_context_pkey PRIMARY KEY (subject_id)
);
CREATE INDEX trace_context_by_creation ON trace_context USING btree (created_at);

create table warm_up (
  source text not null,
  provider text not null,
  day date not null,
  step integer not null,
  reason text,
  moved_on date,
  use jsonb not null,
  setback text,
  constraint warm_up_pkey PRIMARY KEY (source, provider),
  constraint warm_up_source_fkey FOREIGN KEY (source) REFERENCES source(name) ON DELETE CASCADE
);

create table webhook_delivery (
  id uuid not null,
  endpoint_id uuid not null,
  event_at timestamp with time zone not null,
  source smallint not null,
  event_id uuid not null,
  event_name text not null,
  event_count smallint not null default 1,
  contact_id uuid,
  status text not null,
  attempts smallint not null default 0,
  status_code smallint,
  error text,
  duration_ms integer,
  retry_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  no bigint,
  constraint webhook_delivery_pkey PRIMARY KEY (id),
  constraint webhook_delivery_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoint(id) ON DELETE CASCADE,
  constraint webhook_delivery_status_check CHECK ((status = ANY (ARRAY['RETRYING'::text, 'DELIVERED'::text, 'FAILED'::text])))
);
CREATE INDEX webhook_delivery_by_contact ON webhook_delivery USING btree (contact_id) WHERE (contact_id IS NOT NULL);
CREATE UNIQUE INDEX webhook_delivery_of_event ON webhook_delivery USING btree (endpoint_id, event_at, source, event_id);
CREATE INDEX webhook_delivery_to_retry ON webhook_delivery USING btree (endpoint_id, contact_id) WHERE (retry_at IS NOT NULL);

create table webhook_endpoint (
  id uuid not null,
  project_id uuid not null,
  url text not null,
  events text[] not null,
  description text,
  enabled boolean not null default true,
  batch_size smallint not null default 1,
  secret text not null,
  previous_secret text,
  previous_secret_until timestamp(3) with time zone,
  failures smallint not null default 0,
  failing_since timestamp(3) with time zone,
  retry_at timestamp(3) with time zone,
  disabled_at timestamp(3) with time zone,
  disabled_reason text,
  wake_at timestamp with time zone not null default now(),
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  cursor_no bigint not null default 0,
  news_no bigint not null default 0,
  parked_at timestamp(3) with time zone,
  constraint webhook_endpoint_pkey PRIMARY KEY (id),
  constraint webhook_endpoint_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE
);
CREATE INDEX webhook_endpoint_by_creation ON webhook_endpoint USING btree (project_id, created_at, id);
CREATE INDEX webhook_endpoint_with_news ON webhook_endpoint USING btree (id) WHERE (enabled AND ((cursor_no < news_no) OR (parked_at IS NOT NULL)));

create table webhook_feed (
  no bigint not null,
  project_id uuid not null,
  source smallint not null,
  id uuid not null,
  at timestamp with time zone not null default clock_timestamp(),
  constraint webhook_feed_pkey PRIMARY KEY (no)
);
CREATE INDEX webhook_feed_of_project ON webhook_feed USING btree (project_id, no);

create table webhook_horizon (
  is_only boolean not null default true,
  settled_no bigint not null default 0,
  marked_no bigint,
  writers text[] not null default '{}'::text[],
  constraint webhook_horizon_pkey PRIMARY KEY (is_only),
  constraint webhook_horizon_is_only_check CHECK (is_only)
);

create table wording (
  id text not null,
  content text not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint wording_pkey PRIMARY KEY (id)
);

CREATE OR REPLACE FUNCTION everpost_add_up_ended_executions(of_automation uuid)
 RETURNS void
 LANGUAGE sql
AS $function$
  with taken as (
    delete from ended_execution_count where automation_id = of_automation and id = any(array(
      select id from ended_execution_count where automation_id = of_automation for update skip locked))
    returning status, count
  )
  insert into ended_execution_count (automation_id, status, count)
  select of_automation, status, sum(count) from taken group by status having sum(count) <> 0;
$function$;

CREATE OR REPLACE FUNCTION everpost_address_hash(inner_pad bytea, outer_pad bytea, project_id uuid, address text)
 RETURNS bytea
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select sha256(outer_pad || sha256(inner_pad || uuid_send(project_id) || convert_to(address, 'UTF8')))
$function$;

CREATE OR REPLACE FUNCTION everpost_any_instant(value text)
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
begin
  if value ~ '^(([0-9]{3}[1-9]|[0-9]{2}[1-9][0-9]|[0-9][1-9][0-9]{2}|[1-9][0-9]{3})-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,9}){0,1}){0,1}(Z|[+-](0[0-9]|1[0-4]):{0,1}[0-5][0-9])$' then
    return value::timestamptz;
  elsif value ~ '^(([0-9]{3}[1-9]|[0-9]{2}[1-9][0-9]|[0-9][1-9][0-9]{2}|[1-9][0-9]{3})-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)$' then
    return (value || 'T00:00:00Z')::timestamptz;
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION everpost_check_contact_data()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if everpost_contact_data_fits(new.data) then
    return new;
  end if;
  raise exception 'the data of a contact is too large'
    using errcode = 'check_violation', constraint = 'contact_data_limit', detail = new.id;
end
$function$;

CREATE OR REPLACE FUNCTION everpost_check_contact_fields()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  first record;
begin
  for first in select distinct project_id from noted loop
    if (select count(*) from (select from contact_field where project_id = first.project_id limit 5001) known) > 5000 then
      raise exception 'the project has too many fields'
        using errcode = 'check_violation', constraint = 'contact_fields_limit';
    end if;
  end loop;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION everpost_claim_outbox(p_kind text, p_rows integer, p_batch integer, p_after uuid, p_lease interval)
 RETURNS TABLE(turns bigint, last_project uuid, project_id uuid, subject_id uuid, batch_id uuid, attempts integer, is_restart boolean)
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
AS $function$
#variable_conflict use_column
begin
  return query
  with recursive step (project_id, n) as (
    (
      select o.project_id, 1 from outbox o
      where o.kind = p_kind and o.batch_id is null and o.project_id > p_after and o.available_at <= now()
      order by o.project_id limit 1
    )
    union all
    select (
      select o.project_id from outbox o
      where o.kind = p_kind and o.batch_id is null and o.project_id > step.project_id and o.available_at <= now()
      order by o.project_id limit 1
    ), step.n + 1
    from step where step.project_id is not null and step.n < p_rows
  ),
  turn as materialized (
    select step.project_id, step.n, count(*) over () as sharers from step where step.project_id is not null
  ),
  due as (
    select o.* from turn cross join lateral (
      select id, project_id, subject_id, is_restart from outbox
      where kind = p_kind and batch_id is null and project_id = turn.project_id and available_at <= now()
      order by id limit greatest(1, p_rows / turn.sharers) for update skip locked
    ) o
  ),
  placed as (
    select *, (row_number() over (partition by project_id, is_restart order by id) - 1) / p_batch as place from due
  ),
  batched as (
    select id, first_value(case when p_kind in ('email', 'automationEmail') then subject_id else id end)
      over (partition by project_id, is_restart, place order by id) as batch_id
    from placed
  ),
  claimed as (
    update outbox o set batch_id = b.batch_id, available_at = now() + p_lease
    from batched b where o.id = b.id and o.id = any(array(select id from batched))
    returning o.project_id, o.subject_id, o.batch_id, o.attempts, o.is_restart
  )
  select t.turns, t.last_project, c.*
  from (
    select count(*) as turns, (select project_id from turn order by n desc limit 1) as last_project from turn
  ) t left join claimed c on true;
end
$function$;

CREATE OR REPLACE FUNCTION everpost_contact_data_fits(data jsonb)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select (select count(*) from jsonb_object_keys(data)) <= 500 and (
    octet_length(data::text) <= 65536
    or octet_length(data::text) <= 65536 * 3 / 2 and everpost_json_bytes(data) <= 65536
  )
$function$;

CREATE OR REPLACE FUNCTION everpost_count_ended_executions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'DELETE' then
    insert into ended_execution_count (automation_id, status, count)
    select automation_id, status, -count(*) from former where completed_at is not null group by automation_id, status;
    perform everpost_add_up_ended_executions(automation_id) from (select distinct automation_id from former) f;
    return null;
  end if;
  if tg_op = 'UPDATE' then
    insert into ended_execution_count (automation_id, status, count)
    select c.automation_id, case when c.completed_at is null then f.status else c.status end,
      sum(case when c.completed_at is null then -1 else 1 end)
    from changed c join former f using (id)
    where (c.completed_at is null) <> (f.completed_at is null) group by 1, 2;
  else
    insert into ended_execution_count (automation_id, status, count)
    select automation_id, status, count(*) from changed where completed_at is not null group by automation_id, status;
  end if;
  if found and random() < 0.01 then
    perform everpost_add_up_ended_executions(automation_id) from (select distinct automation_id from changed) c;
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION everpost_depth_of_cause(p_name text, p_contact uuid, p_email uuid, p_data jsonb)
 RETURNS smallint
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce(
    case
      when p_email is not null then (
        select x.depth from email e join automation_execution x on x.id = e.execution_id
        where e.id = p_email and (
          p_name not in ('email.open', 'email.click', 'email.received',
            'contact.subscribed', 'contact.unsubscribed', 'contact.paused', 'contact.resumed',
            'topic.subscribed', 'topic.unsubscribed')
          or coalesce(e.sent_at, e.created_at) > now() - interval '1 hour'
        ))
      when p_name in ('contact.subscribed', 'contact.unsubscribed', 'topic.subscribed', 'topic.unsubscribed') then (
        select x.depth from automation_execution x where x.id = (p_data ->> 'executionId')::uuid)
      when p_name like 'segment.%' then (
        select c.changed_depth from contact c
        where c.id = p_contact and c.changed_depth_at > now() - interval '1 hour')
    end, 0)::smallint
$function$;

CREATE OR REPLACE FUNCTION everpost_due_outbox(p_kinds text[])
 RETURNS TABLE(kind text, has_new boolean, has_lapsed boolean)
 LANGUAGE plpgsql
 STABLE
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
AS $function$
#variable_conflict use_column
begin
  return query
  select * from (
    select kind,
      coalesce((select true from outbox o where o.kind = k.kind and o.batch_id is null and o.available_at <= now()
        order by o.project_id limit 1), false) as has_new,
      coalesce((select true from outbox o where o.kind = k.kind and o.batch_id is not null and o.available_at <= now()
        order by o.project_id limit 1), false) as has_lapsed
    from unnest(p_kinds) as k (kind)
  ) due where has_new or has_lapsed;
end
$function$;

CREATE OR REPLACE FUNCTION everpost_end_waits(events event[])
 RETURNS TABLE(project_id uuid, execution_id uuid)
 LANGUAGE plpgsql
 ROWS 1
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
#variable_conflict use_column
begin
  return query
  update event_wait w set event_id = first.id, event_data = first.data, resolved_at = now()
  from (
    select distinct on (o.execution_id) o.execution_id, n.id, n.data
    from unnest(events) n
    join (
      select execution_id, contact_id, event_name, human_only from event_wait
      where event_id is null and (contact_id, event_name) in (select contact_id, name from unnest(events))
      order by execution_id for update
    ) o on o.contact_id = n.contact_id and o.event_name = n.name
      and not (o.human_only and everpost_is_of_machine(n.data))
    order by o.execution_id, n.id
  ) first
  where w.execution_id = first.execution_id and w.event_id is null
  returning w.project_id, w.execution_id;
end
$function$;

CREATE OR REPLACE FUNCTION everpost_feed_event()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into webhook_feed (project_id, source, id)
  select new.project_id, tg_argv[0]::smallint, new.id
  where exists (select from webhook_endpoint w where w.project_id = new.project_id);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION everpost_feed_events()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into webhook_feed (project_id, source, id)
  select r.project_id, tg_argv[0]::smallint, r.id from recorded r
  where exists (select from webhook_endpoint w where w.project_id = r.project_id) order by r.id;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION everpost_feed_last_no()
 RETURNS bigint
 LANGUAGE sql
AS $function$
  select case when is_called then last_value else last_value - 1 end from webhook_feed_no_seq
$function$;

CREATE OR REPLACE FUNCTION everpost_feed_no_before(of_project uuid, moment timestamp with time zone)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  low bigint := coalesce((select min(no) - 1 from webhook_feed where project_id = of_project), 0);
  high bigint := coalesce((select max(no) from webhook_feed where project_id = of_project), 0);
  middle bigint;
  next_row webhook_feed;
begin
  while low < high loop
    middle := low + (high - low) / 2;
    select * into next_row from webhook_feed where project_id = of_project and no > middle order by no limit 1;
    if next_row.at < moment then
      low := next_row.no;
    else
      high := middle;
    end if;
  end loop;
  return low;
end
$function$;

CREATE OR REPLACE FUNCTION everpost_field(node jsonb, keys text[], joined text[], first_key integer)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
declare
  last_key constant integer := cardinality(keys);
  -- Names in joined before those that begin with the key.
  before integer := (first_key - 1) * (2 * last_key - first_key) / 2;
  found jsonb;
begin
  for key in first_key .. last_key - 1 loop
    if jsonb_typeof(node) is distinct from 'object' then
      return null;
    end if;
    if node ?| joined[before + 1 : before + last_key - key] then
      for name in before + 1 .. before + last_key - key loop
        found := node -> joined[name];
        if found is not null then
          if name > before + 1 then
            found := everpost_field(found, keys, joined, last_key - (name - before) + 2);
          end if;
          if jsonb_typeof(found) <> 'null' then
            return found;
          end if;
        end if;
      end loop;
    end if;
    before := before + last_key - key;
    node := node -> keys[key];
  end loop;
  if jsonb_typeof(node) is distinct from 'object' then
    return null;
  end if;
  found := node -> keys[last_key];
  return case when jsonb_typeof(found) <> 'null' then found end;
end
$function$;

CREATE OR REPLACE FUNCTION everpost_field(node jsonb, path text)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select everpost_field(node, string_to_array(path, '.'), everpost_joined_keys(string_to_array(path, '.')), 1)
$function$;

CREATE OR REPLACE FUNCTION everpost_finish_outbox(p_batches uuid[])
 RETURNS void
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
AS $function$
begin
  delete from outbox where batch_id = any(p_batches);
end
$function$;

CREATE OR REPLACE FUNCTION everpost_fold(value text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN lower((value COLLATE "und-x-icu"));

CREATE OR REPLACE FUNCTION everpost_has_started_often(p_automation uuid, p_contact uuid)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select count(*) >= 100 from (
    select from automation_execution
    where contact_id = p_contact and automation_id = p_automation and started_at > now() - interval '1 hour' limit 100
  ) recent
$function$;

CREATE OR REPLACE FUNCTION everpost_instant(value text)
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
begin
  if translate(value, '123456789', '000000000') in ('0000-00-00T00:00:00.000Z', '0000-00-00T00:00:00Z') then
    -- PostgreSQL takes the hour 24 and the second 60 as well.
    if substr(value, 12, 2) > '23' or substr(value, 18, 2) > '59' or not pg_input_is_valid(value, 'timestamptz') then
      return null;
    end if;
    return value::timestamptz;
  end if;
  return everpost_any_instant(value);
end
$function$;

CREATE OR REPLACE FUNCTION everpost_is_of_machine(data jsonb)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select coalesce(data -> 'isMachine' = 'true', false)
$function$;

CREATE OR REPLACE FUNCTION everpost_is_own_event(name text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select name like 'email.%'
    or name in ('contact.subscribed', 'contact.unsubscribed', 'contact.paused', 'contact.resumed',
      'topic.subscribed', 'topic.unsubscribed')
    or name like 'segment.%.entry' or name like 'segment.%.exit'
$function$;

CREATE OR REPLACE FUNCTION everpost_joined_keys(keys text[])
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
  select coalesce(array_agg(array_to_string(keys[f:l], '.') order by f, l desc), '{}')
  from generate_series(1, cardinality(keys) - 1) f, lateral generate_series(f + 1, cardinality(keys)) l
$function$;

CREATE OR REPLACE FUNCTION everpost_json_bytes(value jsonb)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
  select octet_length(regexp_replace(value::text, '("(?:[^"\\]|\\.)*")|\s', '\1', 'g'))
$function$;

CREATE OR REPLACE FUNCTION everpost_keep_first_keys()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into api_key (id, project_id, name, role, key_hash, is_first, created_at, updated_at)
  select everpost_uuid_v7(), new.id, k.name, k.role, k.hash, true, now(), now()
  from (values
    ('Secret key', 'full', new.secret_key_hash, old.secret_key_hash),
    ('Public key', 'track', encode(sha256(convert_to(new.public_key, 'UTF8')), 'hex'),
      encode(sha256(convert_to(old.public_key, 'UTF8')), 'hex'))
  ) as k (name, role, hash, old_hash)
  where k.hash is distinct from k.old_hash
  on conflict (project_id, role) where is_first do update
    set key_hash = excluded.key_hash, expires_at = null, last_used_at = null, updated_at = now();
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION everpost_note_event_names()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  first record;
begin
  for first in
    with fresh as (
      select distinct r.project_id, r.name from recorded r
      where not everpost_is_own_event(r.name)
        and not exists (select from event_name k where k.project_id = r.project_id and k.name = r.name)
    ),
    noted as (
      insert into event_name select * from fresh order by project_id, name on conflict do nothing returning project_id
    )
    select distinct project_id from noted
  loop
    if (select count(*) from (select from event_name where project_id = first.project_id limit 5001) known) > 5000 then
      raise exception 'the project has too many names of events'
        using errcode = 'check_violation', constraint = 'event_names_limit';
    end if;
  end loop;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION everpost_note_former_address()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into former_address (contact_id, project_id, address_hash, address_key)
  select old.id, old.project_id, everpost_address_hash(k.inner_pad, k.outer_pad, old.project_id, old.email),
    hashtextextended(old.email, uuid_hash_extended(old.project_id, 0))
  from address_hash_key k
  on conflict do nothing;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION everpost_parts(project_id uuid, value text)
 RETURNS text[]
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
      declare
        project text := left(project_id::text, 8);
        parts text[] := '{}';
      begin
        for n in 1 .. length(value) - 2 loop
          parts[n] := project || substr(value, n, 3);
        end loop;
        return parts;
      end
      $function$;

CREATE OR REPLACE FUNCTION everpost_recover_outbox(p_kind text, p_rows integer, p_lease interval)
 RETURNS TABLE(project_id uuid, subject_id uuid, batch_id uuid, attempts integer, is_restart boolean)
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
AS $function$
#variable_conflict use_column
begin
  return query
  with recursive step (project_id, n) as (
    (
      select o.project_id, 1 from outbox o
      where o.kind = p_kind and o.batch_id is not null and o.project_id > '00000000-0000-0000-0000-000000000000'::uuid
        and o.available_at <= now()
      order by o.project_id limit 1
    )
    union all
    select (
      select o.project_id from outbox o
      where o.kind = p_kind and o.batch_id is not null and o.project_id > step.project_id and o.available_at <= now()
      order by o.project_id limit 1
    ), step.n + 1
    from step where step.project_id is not null and step.n < p_rows
  ),
  turn as materialized (
    select step.project_id, step.n, count(*) over () as sharers from step where step.project_id is not null
  )
  update outbox set available_at = now() + p_lease, attempts = attempts + 1
  where batch_id = any(array(
    select o.batch_id from turn cross join lateral (
      select batch_id from outbox
      where kind = p_kind and batch_id is not null and project_id = turn.project_id and available_at <= now()
      order by available_at limit greatest(1, p_rows / turn.sharers)
    ) o
  ))
  returning project_id, subject_id, batch_id, attempts, is_restart;
end
$function$;

CREATE OR REPLACE FUNCTION everpost_settle_feed()
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  horizon webhook_horizon;
  last_no bigint;
  open_writers text[];
  settled bigint;
begin
  select * into horizon from webhook_horizon for update skip locked;
  if not found then
    return;
  end if;
  last_no := everpost_feed_last_no();
  if last_no = horizon.settled_no then
    return;
  end if;
  select coalesce(array_agg(virtualtransaction), '{}') into open_writers from pg_locks
  where locktype = 'relation' and relation = 'webhook_feed'::regclass and mode = 'RowExclusiveLock' and granted
    and database = (select oid from pg_database where datname = current_database());
  if open_writers = '{}' then
    settled := last_no;
  elsif horizon.marked_no is not null and not horizon.writers && open_writers then
    settled := horizon.marked_no;
  end if;
  if settled is null and horizon.marked_no is not null then
    return;
  end if;
  update webhook_horizon set settled_no = coalesce(settled, settled_no),
    marked_no = case when open_writers <> '{}' then last_no end, writers = open_writers;
  update webhook_endpoint w set news_no = n.no
  from (
    select project_id, max(no) as no from webhook_feed where no > horizon.settled_no and no <= settled group by project_id
  ) n
  where w.project_id = n.project_id and w.cursor_no >= w.news_no;
end
$function$;

CREATE OR REPLACE FUNCTION everpost_start_executions(events event[])
 RETURNS TABLE(project_id uuid, execution_id uuid)
 LANGUAGE plpgsql
 ROWS 1
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
#variable_conflict use_column
begin
  return query
  with matched as (
    select distinct on (a.id, n.contact_id) a.id as automation_id, a.project_id, a.graph_id, a.allow_reentry,
      n.contact_id, n.data, n.id as event_id,
      everpost_depth_of_cause(n.name, n.contact_id, n.email_id, n.data) + 1 as depth
    from unnest(events) n
    join automation a on a.project_id = n.project_id and a.trigger_event = n.name and a.enabled and a.trigger_type = 'EVENT'
    join project p on p.id = a.project_id and not p.disabled
    where n.contact_id is not null and not (a.trigger_human_only and everpost_is_of_machine(n.data))
      and (n.email_id is null or n.data ->> 'workflowId' is distinct from a.id::text)
    order by a.id, n.contact_id, n.id
  ),
  judged as materialized (
    select *, case
        when depth > 8 then 'CHAIN_TOO_LONG'
        when allow_reentry and everpost_has_started_often(automation_id, contact_id) then 'TOO_OFTEN'
      end as refusal
    from matched
  ),
  refused as (
    insert into automation_refusal
      (id, project_id, automation_id, contact_id, reason, hour, count, event_id, created_at, updated_at)
    select everpost_uuid_v7(), project_id, automation_id, contact_id, refusal, date_trunc('hour', now()), 1, event_id, now(),
      now()
    from judged where refusal is not null order by contact_id, automation_id
    on conflict (contact_id, automation_id, reason, hour) do update
      set count = automation_refusal.count + 1, event_id = excluded.event_id, updated_at = excluded.updated_at
  )
  insert into automation_execution
    (id, project_id, automation_id, graph_id, contact_id, is_first, context, depth, started_at, created_at, updated_at)
  select everpost_uuid_v7(), project_id, automation_id, graph_id, contact_id,
    not allow_reentry or not exists (
      select from automation_execution e where e.automation_id = j.automation_id and e.contact_id = j.contact_id),
    data, depth, now(), now(), now()
  from judged j where refusal is null
  on conflict do nothing
  returning project_id, id;
end
$function$;

CREATE OR REPLACE FUNCTION everpost_take_text(text_id_taken uuid)
 RETURNS text
 LANGUAGE sql
AS $function$
  with taken as (delete from text_piece where text_id = text_id_taken returning position, piece)
  select string_agg(piece, '' order by position) from taken;
$function$;

CREATE OR REPLACE FUNCTION everpost_uuid_v7()
 RETURNS uuid
 LANGUAGE sql
 PARALLEL SAFE
AS $function$
  select encode(
    set_bit(set_bit(
      overlay(uuid_send(gen_random_uuid())
        placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
      52, 1), 53, 1),
    'hex')::uuid
$function$;

