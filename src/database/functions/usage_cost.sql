-- The cost of usage, in micro-rupiah: the formula of src/billing/cost.ts. Prices are micro-rupiah per million tokens.

CREATE OR REPLACE FUNCTION price_of(prices jsonb, kind text) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (prices ->> kind)::numeric
$$;

-- The one rounding of a cost, upwards. `div` is exact; the operator `/` keeps sixteen digits, too few for expensive requests.
CREATE OR REPLACE FUNCTION per_million(total numeric) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT div(total + 999999, 1000000)
$$;

-- The cost where a record has a kind of token or price that most requests do not have.
CREATE OR REPLACE FUNCTION usage_cost_of_all_kinds(uncached int, cached int, output int, tokens jsonb, input_price bigint, output_price bigint,
                                        cache_hit_price bigint, prices jsonb)
RETURNS numeric LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  write numeric := coalesce((tokens ->> 'cache_write')::numeric, 0);
  write_1h numeric := coalesce((tokens ->> 'cache_write_1h')::numeric, 0);
  audio numeric := coalesce((tokens ->> 'audio_input')::numeric, 0);
  image numeric := coalesce((tokens ->> 'image_input')::numeric, 0);
  drawn numeric := coalesce((tokens ->> 'image_output')::numeric, 0);
  input numeric := uncached::numeric + cached + write + write_1h + audio + image;
  per_input numeric := input_price; per_output numeric := output_price; per_hit numeric := cache_hit_price;
  per_write numeric := price_of(prices, 'cache_write');
  tier jsonb;
BEGIN
  SELECT t INTO tier FROM jsonb_array_elements(prices -> 'long_context') t
  WHERE input > (t ->> 'above')::numeric ORDER BY (t ->> 'above')::numeric DESC LIMIT 1;
  IF tier IS NOT NULL THEN
    per_input := price_of(tier, 'input'); per_output := price_of(tier, 'output');
    per_hit := price_of(tier, 'cache_hit'); per_write := price_of(tier, 'cache_write');
  END IF;
  per_write := coalesce(per_write, per_input);
  RETURN per_million(uncached * per_input + cached * coalesce(per_hit, per_input) + write * per_write
      + write_1h * coalesce(price_of(tier, 'cache_write_1h'), greatest(per_write, price_of(prices, 'cache_write_1h')))
      + audio * coalesce(price_of(prices, 'audio_input'), per_input) + image * coalesce(price_of(prices, 'image_input'), per_input)
      + output * per_output + drawn * coalesce(price_of(prices, 'image_output'), per_output))
    + CASE WHEN input + output + drawn > 0 THEN coalesce(price_of(prices, 'per_request'), 0) ELSE 0 END;
END $$;

-- One expression, so that PostgreSQL inlines it into the calling statements.
CREATE OR REPLACE FUNCTION usage_cost(uncached int, cached int, output int, tokens jsonb, input_price bigint, output_price bigint,
                           cache_hit_price bigint, prices jsonb)
RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN tokens IS NULL AND prices IS NULL
    THEN per_million(uncached::numeric * input_price + cached::numeric * coalesce(cache_hit_price, input_price)
                     + output::numeric * output_price)
    ELSE usage_cost_of_all_kinds(uncached, cached, output, tokens, input_price, output_price, cache_hit_price, prices) END
$$;

-- The extra cost of a request's cached tokens at the price of uncached input: whole units, so that sums of it are exact.
CREATE OR REPLACE FUNCTION saved_by_cache(uncached int, cached int, output int, tokens jsonb, input_price bigint, output_price bigint,
                               cache_hit_price bigint, prices jsonb, cost bigint)
RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN cached = 0 OR cache_hit_price IS NULL THEN 0
    ELSE usage_cost(uncached + cached, 0, output, tokens, input_price, output_price, cache_hit_price, prices) - cost END
$$;
