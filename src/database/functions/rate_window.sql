-- The rate window of a key, as functions of its row: the admission statement and the read path must decide by the same rules.
--
-- `slots` contains the times of the counted requests, oldest first. Up to a limit of 600 each element is one request and counts
-- for 60 s. Above that an element is a whole second, with its number of requests at the same index of `slot_counts`, and counts
-- for 61 s: the second itself and the 60 after it. After a change of the limit one row may have both kinds: elements beyond the
-- end of `slot_counts` are single requests. A row is read request by request where the limit is at most 600 and `slot_counts` is
-- empty. The arrays are ordered, so width_bucket finds by binary search how many elements no longer count.
--
-- Every function but the two named in_buckets is one expression, so that the planner inlines it into the calling statement. That
-- needs STABLE (subtracting an interval is not IMMUTABLE to PostgreSQL) and excludes STRICT, SET and sub-selects; a row of single
-- requests never reaches the sub-selects of the other two.

CREATE OR REPLACE FUNCTION slots_used_in_buckets(slots timestamptz[], slot_counts int[], t timestamptz)
RETURNS int LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT coalesce(sum(coalesce(taken, 1)), 0)::int
  FROM unnest(slots, slot_counts) AS bucket (start, taken) WHERE start > t - interval '61 s'
$$;

-- How many requests count at the time t. After a limit was lowered it may exceed the limit.
CREATE OR REPLACE FUNCTION slots_used(slots timestamptz[], slot_counts int[], rate_limit int, t timestamptz)
RETURNS int LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN rate_limit <= 600 AND cardinality(slot_counts) = 0
      THEN cardinality(slots) - width_bucket(t - interval '60 s', slots)
    ELSE slots_used_in_buckets(slots, slot_counts, t) END
$$;

-- The slots after n more requests were admitted at the time t. Elements that no longer count are dropped, so the row of a key
-- that is used now and then stays short. Times never go back, even where the clock does: the array must stay ordered.
CREATE OR REPLACE FUNCTION slots_after(slots timestamptz[], slot_counts int[], rate_limit int, t timestamptz, n int)
RETURNS timestamptz[] LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN rate_limit <= 600 AND cardinality(slot_counts) = 0
      THEN slots[width_bucket(t - interval '60 s', slots) + 1 :] || array_fill(greatest(t, slots[cardinality(slots)]), ARRAY[n])
    WHEN rate_limit <= 600
      THEN slots[width_bucket(t - interval '61 s', slots) + 1 :] || array_fill(greatest(t, slots[cardinality(slots)]), ARRAY[n])
    WHEN slots[cardinality(slots)] >= date_bin('1 s', t, timestamptz 'epoch')
      THEN slots[width_bucket(t - interval '61 s', slots) + 1 :]
    ELSE slots[width_bucket(t - interval '61 s', slots) + 1 :] || date_bin('1 s', t, timestamptz 'epoch') END
$$;

CREATE OR REPLACE FUNCTION bucket_counts_after(slots timestamptz[], counts int[], t timestamptz, n int)
RETURNS int[] LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN slots[cardinality(slots)] >= date_bin('1 s', t, timestamptz 'epoch')
      THEN counts[width_bucket(t - interval '61 s', slots) + 1 : cardinality(counts) - 1] || (counts[cardinality(counts)] + n)
    ELSE counts[width_bucket(t - interval '61 s', slots) + 1 :] || n END
$$;

-- The counts of slots_after.
CREATE OR REPLACE FUNCTION slot_counts_after(slots timestamptz[], slot_counts int[], rate_limit int, t timestamptz, n int)
RETURNS int[] LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN rate_limit <= 600 AND cardinality(slot_counts) = 0 THEN slot_counts
    WHEN rate_limit <= 600 THEN slot_counts[width_bucket(t - interval '61 s', slots) + 1 :]
    ELSE bucket_counts_after(
      slots, slot_counts || array_fill(1, ARRAY[cardinality(slots) - cardinality(slot_counts)]), t, n) END
$$;

CREATE OR REPLACE FUNCTION slot_free_at_in_buckets(slots timestamptz[], slot_counts int[], rate_limit int, nth int)
RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT max(start) + interval '61 s' FROM (
    SELECT start, sum(coalesce(taken, 1)) OVER (ORDER BY start DESC ROWS UNBOUNDED PRECEDING) AS taken_since
    FROM unnest(slots, slot_counts) AS bucket (start, taken)) AS since
  WHERE taken_since > rate_limit - nth
$$;

-- The time from which the nth further request is admitted. Null: there is no wait, or (nth over the limit) it waits for requests
-- of its own statement.
CREATE OR REPLACE FUNCTION slot_free_at(slots timestamptz[], slot_counts int[], rate_limit int, nth int)
RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN nth > rate_limit THEN NULL
    WHEN rate_limit <= 600 AND cardinality(slot_counts) = 0 THEN slots[cardinality(slots) + nth - rate_limit] + interval '60 s'
    ELSE slot_free_at_in_buckets(slots, slot_counts, rate_limit, nth) END
$$;

-- Milliseconds until that time, rounded up: for a request that was refused at the time t.
CREATE OR REPLACE FUNCTION slot_wait_ms(slots timestamptz[], slot_counts int[], rate_limit int, t timestamptz, nth int)
RETURNS int LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT least(61000, greatest(1, ceil(1000 * extract(epoch FROM
    coalesce(slot_free_at(slots, slot_counts, rate_limit, nth), t + interval '60 s') - t))))::int
$$;

-- Whole seconds until the oldest counted request leaves the window, 0 to 60; 60 where there is none yet.
CREATE OR REPLACE FUNCTION slots_reset_seconds(slots timestamptz[], slot_counts int[], rate_limit int, t timestamptz)
RETURNS int LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN rate_limit = 0 THEN 0 ELSE least(60, greatest(0, ceil(extract(epoch FROM CASE
    WHEN rate_limit <= 600 AND cardinality(slot_counts) = 0
      THEN coalesce(slots[width_bucket(t - interval '60 s', slots) + 1], t) + interval '60 s'
    ELSE coalesce(slots[width_bucket(t - interval '61 s', slots) + 1], t) + interval '61 s' END - t)))) ::int END
$$;
