-- The tokens of a key in the last minute, as functions of its row. Open requests count with what their holds were sized for, however long
-- they run; an ended one counts with what it used, for 61 s from the second in which it was settled. So the tokens that are settled
-- in any 60 s are never more than the limit, but for what a request used beyond the size of its hold.
--
-- `token_times` contains whole seconds, oldest first, with the tokens of each at the same index of `token_counts`. Times never go back.

CREATE OR REPLACE FUNCTION tokens_settled(times timestamptz[], counts bigint[], t timestamptz)
RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT coalesce(sum(n), 0)::bigint FROM unnest(times, counts) AS bucket (start, n) WHERE start > t - interval '61 s'
$$;

-- Milliseconds until so many of the settled tokens count no more, rounded up, 60 s at most. Null: they are fewer.
CREATE OR REPLACE FUNCTION token_wait_ms(times timestamptz[], counts bigint[], wanted bigint, t timestamptz)
RETURNS int LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN min(start) IS NOT NULL
    THEN least(60000, greatest(1, ceil(1000 * extract(epoch FROM min(start) + interval '61 s' - t))))::int END
  FROM (
    SELECT start, sum(n) OVER (ORDER BY start ROWS UNBOUNDED PRECEDING) AS freed
    FROM unnest(times, counts) AS bucket (start, n) WHERE start > t - interval '61 s') AS ending
  WHERE freed >= wanted
$$;

-- The seconds, and the tokens in them, after n more were settled at the time t.
CREATE OR REPLACE FUNCTION token_times_after(times timestamptz[], t timestamptz)
RETURNS timestamptz[] LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN times[cardinality(times)] >= date_bin('1 s', t, timestamptz 'epoch')
    THEN times[width_bucket(t - interval '61 s', times) + 1 :]
    ELSE times[width_bucket(t - interval '61 s', times) + 1 :] || date_bin('1 s', t, timestamptz 'epoch') END
$$;

CREATE OR REPLACE FUNCTION token_counts_after(times timestamptz[], counts bigint[], t timestamptz, n bigint)
RETURNS bigint[] LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN times[cardinality(times)] >= date_bin('1 s', t, timestamptz 'epoch')
    THEN counts[width_bucket(t - interval '61 s', times) + 1 : cardinality(counts) - 1] || (counts[cardinality(counts)] + n)
    ELSE counts[width_bucket(t - interval '61 s', times) + 1 :] || n END
$$;

-- All tokens of a usage record.
CREATE OR REPLACE FUNCTION all_tokens(input_uncached int, input_cached int, output int, other_tokens jsonb)
RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT input_uncached::bigint + input_cached + output + CASE WHEN other_tokens IS NULL THEN 0
    ELSE (SELECT coalesce(sum(n::bigint), 0) FROM jsonb_each_text(other_tokens) AS kind (name, n))::bigint END
$$;

-- A hold of a key with a limit of tokens ends: its tokens are free, and those that the request used count from now on.
CREATE OR REPLACE FUNCTION count_tokens(account uuid, key uuid, held bigint, used bigint) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
  t timestamptz := clock_timestamp();
BEGIN
  UPDATE api_key k
  SET tokens_held = k.tokens_held - held,
      token_times = CASE WHEN used > 0 THEN token_times_after(k.token_times, t) ELSE k.token_times END,
      token_counts = CASE WHEN used > 0 THEN token_counts_after(k.token_times, k.token_counts, t, used) ELSE k.token_counts END
  WHERE k.account_id = account AND k.id = key;
END $$;
