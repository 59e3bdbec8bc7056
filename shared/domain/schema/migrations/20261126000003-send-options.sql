-- What a request to send may say of its emails: tags, a later moment, and further recipients of the same message.

alter table email
  add column tags jsonb,
  add column scheduled_at timestamptz(3);
alter table email_content
  -- The message that recipients in Cc and Bcc get, too: its mailboxes, and the email whose Message-ID it has.
  add column addressed jsonb;
