import { joinSql, sql } from '../../database/sql.ts';

/** Conditions on a row of `event`. Each is true for at most one event of an email. */
export const FIRST_OPEN = sql`(name = 'email.open' and data->>'isFirstOpen' = 'true')`;
export const FIRST_CLICK = sql`(name = 'email.click' and data->>'isFirstClick' = 'true')`;
export const HARD_BOUNCE = sql`(name = 'email.bounce' and data->>'bounceType' = 'hard')`;

/** Any of them: exactly the predicate of the index `event_first_of_mail`. */
export const FIRST_OF_EMAIL = sql`(${joinSql([FIRST_OPEN, FIRST_CLICK, HARD_BOUNCE], ' or ')})`;

/**
 * Events that are the first of a person or the first of all, but not both: exactly the predicate of the index
 * `event_first_of_human`.
 */
export const FIRST_OF_HUMAN = sql`(data->>'isFirstHumanOpen' is not null or data->>'isFirstHumanClick' is not null)`;
