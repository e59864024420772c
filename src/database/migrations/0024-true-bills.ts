import { Migration } from "@mikro-orm/migrations";
import { requestFunctions } from "./request-functions.ts";

// Kinds of tokens and prices beyond input, output and cached input; how counts came about; what an account owes as a column of
// its row, so that it is decided with the balance.
export class Migration0024TrueBills extends Migration {
  override up(): void {
    this.addSql(`
      ALTER TABLE account ADD COLUMN owed bigint NOT NULL DEFAULT 0 CONSTRAINT account_owed_not_negative CHECK (owed >= 0)`);
    this.addSql(`
      UPDATE account a SET owed = r.owed
      FROM (SELECT account_id, sum(amount - collected)::bigint AS owed FROM receivable WHERE collected < amount GROUP BY account_id) r
      WHERE r.account_id = a.id`);
    // Prices and tokens of the rarer kinds are JSON objects of whole numbers as text, by the kind's name: null for most rows.
    this.addSql(`
      ALTER TABLE hold ADD COLUMN other_prices jsonb, ADD COLUMN progress_cached_tokens int NOT NULL DEFAULT 0`);
    this.addSql(`
      ALTER TABLE usage_record ADD COLUMN other_tokens jsonb, ADD COLUMN other_prices jsonb, ADD COLUMN metering jsonb,
        ADD COLUMN unbilled_cost bigint NOT NULL DEFAULT 0 CHECK (unbilled_cost >= 0)`);
    this.addSql(`ALTER TABLE catalog_model ADD COLUMN other_prices jsonb`);
    this.addSql(`
      ALTER TABLE catalog_upstream ADD COLUMN charges_cache_writes boolean NOT NULL DEFAULT false,
        ADD COLUMN output_cap_field text NOT NULL DEFAULT 'max_tokens'
          CHECK (output_cap_field IN ('max_tokens', 'max_completion_tokens'))`);
    // As src/catalog/upstream-file.ts has it for upstreams of these hosts that do not choose.
    this.addSql(`
      UPDATE catalog_upstream SET output_cap_field = 'max_completion_tokens'
      WHERE base_url ~ '^https://api[.](openai[.]com|x[.]ai)(/|$)'`);
    this.addSql(`
      UPDATE catalog_upstream SET charges_cache_writes = true WHERE base_url ~ '^https://(api[.]openai[.]com|openrouter[.]ai)(/|$)'`);

    for (const makeFunction of [
      NEW_UUIDV7,
      PRICE_OF,
      PER_MILLION,
      COST_OF_ALL_KINDS,
      USAGE_COST,
      SAVED_BY_CACHE,
      COLLECT_OWED,
    ]) {
      this.addSql(makeFunction);
    }
    for (const formerFunction of FORMER_FUNCTIONS) this.addSql(`DROP FUNCTION IF EXISTS ${formerFunction}`);
    for (const makeFunction of requestFunctions) this.addSql(makeFunction);
  }
}

// PostgreSQL has its own only from 18 on.
const NEW_UUIDV7 = `
CREATE FUNCTION new_uuidv7() RETURNS uuid LANGUAGE sql VOLATILE AS $$
  SELECT (lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0') || '7'
          || substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid
$$`;

const PRICE_OF = `
CREATE FUNCTION price_of(prices jsonb, kind text) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (prices ->> kind)::numeric
$$`;

// The one rounding of a cost, upwards. `div` is exact; the operator `/` keeps sixteen digits, too few for dear requests.
const PER_MILLION = `
CREATE FUNCTION per_million(total numeric) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT div(total + 999999, 1000000)
$$`;

// The formula of src/billing/cost.ts, where any kind of token or price is used that most requests do not have.
const COST_OF_ALL_KINDS = `
CREATE FUNCTION usage_cost_of_all_kinds(uncached int, cached int, output int, tokens jsonb, input_price bigint, output_price bigint,
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
      + write_1h * greatest(per_write, price_of(prices, 'cache_write_1h'))
      + audio * coalesce(price_of(prices, 'audio_input'), per_input) + image * coalesce(price_of(prices, 'image_input'), per_input)
      + output * per_output + drawn * coalesce(price_of(prices, 'image_output'), per_output))
    + CASE WHEN input + output + drawn > 0 THEN coalesce(price_of(prices, 'per_request'), 0) ELSE 0 END;
END $$`;

// One expression, so that PostgreSQL writes it into the statements that use it.
const USAGE_COST = `
CREATE FUNCTION usage_cost(uncached int, cached int, output int, tokens jsonb, input_price bigint, output_price bigint,
                           cache_hit_price bigint, prices jsonb)
RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN tokens IS NULL AND prices IS NULL
    THEN per_million(uncached::numeric * input_price + cached::numeric * coalesce(cache_hit_price, input_price)
                     + output::numeric * output_price)
    ELSE usage_cost_of_all_kinds(uncached, cached, output, tokens, input_price, output_price, cache_hit_price, prices) END
$$`;

// What the cached tokens of a request would have cost more as other input: whole units, so that sums of it are exact.
const SAVED_BY_CACHE = `
CREATE FUNCTION saved_by_cache(uncached int, cached int, output int, tokens jsonb, input_price bigint, output_price bigint,
                               cache_hit_price bigint, prices jsonb, cost bigint)
RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN cached = 0 OR cache_hit_price IS NULL THEN 0
    ELSE usage_cost(uncached + cached, 0, output, tokens, input_price, output_price, cache_hit_price, prices) - cost END
$$`;

// Takes what an account owes from what it has and does not hold, the oldest receivable first. The caller has locked the account.
// A reference names the receivable and what brought the money, so that a replay collects nothing twice.
const COLLECT_OWED = `
CREATE FUNCTION collect_owed(account uuid, source uuid) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  free bigint; due record; part bigint; collected bigint := 0;
BEGIN
  SELECT least(a.owed, a.posted - a.held) INTO free FROM account a WHERE a.id = account FOR NO KEY UPDATE;
  IF free IS NULL OR free <= 0 THEN RETURN 0; END IF;
  FOR due IN SELECT r.id, r.amount - r.collected AS rest FROM receivable r
             WHERE r.account_id = account AND r.collected < r.amount ORDER BY r.id FOR NO KEY UPDATE LOOP
    part := least(due.rest, free - collected);
    INSERT INTO posting (id, group_id, asset, debit, credit, amount, reason, reference)
    VALUES (new_uuidv7(), source, 'IDR/6', account, '00000000-0000-7000-8000-000000000008', part, 'receivable_collected',
            'receivable:' || due.id || ':' || source);
    UPDATE receivable r SET collected = r.collected + part WHERE r.id = due.id;
    collected := collected + part;
    EXIT WHEN collected = free;
  END LOOP;
  UPDATE account a SET posted = a.posted - collected, owed = a.owed - collected WHERE a.id = account;
  RETURN collected;
END $$`;

// The functions of a request with the parameters they had until now.
const FORMER_FUNCTIONS = [
  "admit_request(uuid, uuid, uuid, uuid, bigint, bigint, text, bigint, bigint, bigint)",
  "settle_request(uuid, uuid, bigint, int, int, int, text, date, text, text, text, bigint, boolean, int, int, boolean)",
  "commit_requests(uuid[], uuid[], bigint[], int[], int[], int[], text[], date[], text[], text[], text[], bigint[], boolean[], " +
    "int[], int[], boolean[], uuid[], uuid[], bigint[], bigint[], int[], int[], uuid[], uuid[], uuid[], uuid[], bigint[], " +
    "bigint[], text[], bigint[], bigint[], bigint[])",
];
