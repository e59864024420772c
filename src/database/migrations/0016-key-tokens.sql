-- The limit of a key's tokens in a minute. `tokens_held` is what its open requests were sized for, and `hold.tokens` the part of each;
-- `token_times` and `token_counts` are what was used in the last minute, second by second. 0: no limit, and nothing is counted.

ALTER TABLE api_key
  ADD COLUMN token_limit int NOT NULL DEFAULT 0,
  ADD COLUMN tokens_held bigint NOT NULL DEFAULT 0,
  ADD COLUMN token_times timestamptz[] NOT NULL DEFAULT '{}',
  ADD COLUMN token_counts bigint[] NOT NULL DEFAULT '{}',
  ADD CONSTRAINT api_key_tokens CHECK (token_limit >= 0 AND tokens_held >= 0) NOT VALID;

ALTER TABLE hold ADD COLUMN tokens int NOT NULL DEFAULT 0;
