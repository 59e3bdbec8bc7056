-- The segments that an audience depends on, as they were when the first of its recipients were stored.
alter table campaign add column audience_segments jsonb;
