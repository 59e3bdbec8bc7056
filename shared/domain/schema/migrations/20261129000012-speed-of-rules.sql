-- The emails a second of projects without a speed of their own, as the workers with these rules have it. It stands in the
-- digest, too, which tells workers with different speeds apart.
alter table rules_in_use add column emails_per_second double precision;
update rules_in_use set emails_per_second = split_part(digest, ' ', 2)::double precision
where digest ~ '^\S+ [\d.]+$';
