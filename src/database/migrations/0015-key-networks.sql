-- The networks whose clients may use a key, and the highest rate limit that its owner may set. Null: all networks; the present limit, as for
-- every key of before.

ALTER TABLE api_key
  ADD COLUMN allowed_networks text[],
  ADD COLUMN rate_limit_bound int,
  ADD CONSTRAINT api_key_rate_limit_bound CHECK (rate_limit_bound BETWEEN 0 AND 1000000) NOT VALID;
