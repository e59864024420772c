import { Migration } from "@mikro-orm/migrations";

// A tier of a long input may have its own price for cache writes of an hour: providers charge more for them there too.
export class Migration0035TierWrites extends Migration {
  override up(): void {
    this.addSql(COST_OF_ALL_KINDS);
  }
}

// As migration 0024 made it, but for the price of one-hour writes in a tier. What was billed before has no such price.
const COST_OF_ALL_KINDS = `
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
END $$`;
