-- Messages that arrive by SMTP. Such a message is the only file of its set, and is sent as it is.

-- Null for the files of other emails.
alter table attachment add column submission jsonb;
