import { Migration } from "@mikro-orm/migrations";

// What a request came to whose hold recovery had resolved before it was settled, and the posting of the difference. And months of
// usage records are made one by one, so that one that cannot be made does not keep the others from it.
export class Migration0027LateUsage extends Migration {
  override up(): void {
    this.addSql(`
      CREATE TABLE late_usage (
        account_id            uuid        NOT NULL,
        request_id            uuid        NOT NULL,
        cost                  bigint      NOT NULL CHECK (cost >= 0),
        charge                bigint      NOT NULL CHECK (charge >= 0 AND charge <= cost),
        input_tokens_uncached int         NOT NULL CHECK (input_tokens_uncached >= 0),
        input_tokens_cached   int         NOT NULL CHECK (input_tokens_cached >= 0),
        output_tokens         int         NOT NULL CHECK (output_tokens >= 0),
        other_tokens          jsonb,
        metering              jsonb,
        unbilled_cost         bigint      NOT NULL CHECK (unbilled_cost >= 0),
        basis                 text        NOT NULL,
        upstream              text,
        upstream_model        text,
        upstream_request_id   text,
        upstream_cost         bigint,
        streamed              boolean     NOT NULL,
        duration_ms           int         NOT NULL,
        first_byte_ms         int,
        clamped               boolean     NOT NULL,
        settled_at            timestamptz NOT NULL DEFAULT clock_timestamp(),
        PRIMARY KEY (account_id, request_id)
      )`);
    for (const [name, when] of [
      ["append_only", "UPDATE OR DELETE ON late_usage FOR EACH ROW"],
      ["append_only_truncate", "TRUNCATE ON late_usage FOR EACH STATEMENT"],
    ]) {
      this.addSql(`CREATE TRIGGER ${name} BEFORE ${when} EXECUTE FUNCTION refuse_change()`);
      this.addSql(`ALTER TABLE late_usage ENABLE ALWAYS TRIGGER ${name}`);
    }
    this.addSql(`GRANT SELECT, INSERT ON late_usage TO saldo_serve`);
    this.addSql(POST_LATE_USAGE);

    this.addSql(`DROP FUNCTION ensure_usage_partitions(date, int)`);
    this.addSql(ENSURE_USAGE_PARTITIONS);
    this.addSql(`REVOKE ALL ON FUNCTION ensure_usage_partitions FROM public`);
    this.addSql(`GRANT EXECUTE ON FUNCTION ensure_usage_partitions TO saldo_serve`);
    this.addSql(FILE_STRAY_USAGE);
    this.addSql(`REVOKE ALL ON FUNCTION file_stray_usage FROM public`);
  }
}

const TOKENS = "input_tokens_uncached, input_tokens_cached, output_tokens, other_tokens, metering, unbilled_cost";
const FACTS =
  "basis, upstream, upstream_model, upstream_request_id, upstream_cost, streamed, duration_ms, first_byte_ms, clamped";

// Takes the parameters of settle_request, and whether the difference must be posted in full or not at all. No row: the request's
// record was not written by recovery. The account is locked first, so a second call finds what the first one wrote. What recovery
// charged is part of the cost, so that the customer pays for each token once. The loss has an id of its own: one with the id
// of the request is what the record's charge left of the record's cost.
const POST_LATE_USAGE = `
CREATE FUNCTION post_late_usage(
  account uuid, request uuid, cost bigint, input_tokens_uncached int, input_tokens_cached int, output_tokens int, basis text,
  billing_day date, upstream text, upstream_model text, upstream_request_id text, upstream_cost bigint, streamed boolean,
  duration_ms int, first_byte_ms int, clamped boolean, other_tokens jsonb, metering jsonb, unbilled_cost bigint, settled_at timestamptz,
  whole boolean,
  OUT outcome text, OUT charge bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
  posted bigint; held bigint; owed bigint; recovered_cost bigint; recovered_charge bigint; due bigint; late bigint; lost bigint;
BEGIN
  SELECT a.posted, a.held, a.owed INTO posted, held, owed FROM account a WHERE a.id = account FOR NO KEY UPDATE;
  SELECT u.cost, u.charge INTO recovered_cost, recovered_charge FROM usage_record u
  WHERE u.account_id = account AND u.request_id = request AND u.basis = 'recovered';
  IF NOT FOUND THEN RETURN; END IF;

  SELECT l.charge INTO late FROM late_usage l WHERE l.account_id = account AND l.request_id = request;
  IF FOUND THEN outcome := 'posted'; charge := recovered_charge + late; RETURN; END IF;
  due := greatest(0, cost - recovered_cost);
  late := least(due, greatest(0, posted - held - owed));
  IF whole AND late < due THEN outcome := 'refused'; charge := recovered_charge; RETURN; END IF;

  outcome := 'posted'; charge := recovered_charge + late;
  IF cost = 0 AND unbilled_cost = 0 THEN RETURN; END IF;
  INSERT INTO late_usage (account_id, request_id, cost, charge, ${TOKENS}, ${FACTS}, settled_at)
  VALUES (account, request, cost, late, ${TOKENS}, ${FACTS}, coalesce(settled_at, clock_timestamp()));
  IF late > 0 THEN
    INSERT INTO posting (id, group_id, asset, debit, credit, amount, reason, reference)
    VALUES (new_uuidv7(), request, 'IDR/6', account, '00000000-0000-7000-8000-000000000001', late, 'late_usage', 'late:' || request);
    UPDATE account a SET posted = posted - late, held = held WHERE a.id = account;
  END IF;
  lost := due - late + unbilled_cost;
  IF lost > 0 THEN
    INSERT INTO posting (id, group_id, asset, debit, credit, amount, reason, reference)
    VALUES (new_uuidv7(), request, 'IDR/6', '00000000-0000-7000-8000-000000000002', '00000000-0000-7000-8000-000000000001',
            lost, 'late_uncollected', 'late-loss:' || request);
  END IF;
END $$`;

// As migration 0001 made it, but that each month is a step of its own. A month that cannot be made, because the default
// partition holds a record of it, is returned with the reason.
const ENSURE_USAGE_PARTITIONS = `
CREATE FUNCTION ensure_usage_partitions(first_month date, months int) RETURNS TABLE (partition text, failure text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public AS $$
DECLARE
  month timestamptz; name text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('ensure_usage_partitions'));
  FOR i IN 0 .. least(months, 36) - 1 LOOP
    month := (date_trunc('month', first_month::timestamp) + make_interval(months => i)) AT TIME ZONE 'UTC';
    name := 'usage_record_' || to_char(month AT TIME ZONE 'UTC', 'YYYY_MM');
    CONTINUE WHEN to_regclass('public.' || name) IS NOT NULL;
    partition := name; failure := NULL;
    BEGIN
      EXECUTE format('CREATE TABLE public.%I PARTITION OF public.usage_record FOR VALUES FROM (%L) TO (%L)', name,
        public.uuid_floor(month), public.uuid_floor((month AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC'));
      EXECUTE format('CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.%I FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change()', name);
      EXECUTE format('ALTER TABLE public.%I ENABLE ALWAYS TRIGGER append_only_truncate', name);
      EXECUTE format('ALTER TABLE public.%I ENABLE ALWAYS TRIGGER append_only', name);
    EXCEPTION WHEN OTHERS THEN
      failure := SQLERRM;
    END;
    RETURN NEXT;
  END LOOP;
END $$`;

// Moves the records of the default partition to their months. The owner of the schema calls it by hand, as database/README.md
// describes; nobody else may. The records stay as they are: their table changes its name, and new rows with the same values
// come into the months.
const FILE_STRAY_USAGE = `
CREATE FUNCTION file_stray_usage() RETURNS int LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
DECLARE
  moved int; month date; failed text;
BEGIN
  LOCK TABLE usage_record IN ACCESS EXCLUSIVE MODE;
  ALTER TABLE usage_record DETACH PARTITION usage_record_default;
  FOR month IN SELECT DISTINCT date_trunc('month', uuid_time(request_id) AT TIME ZONE 'UTC')::date FROM usage_record_default LOOP
    SELECT failure INTO failed FROM ensure_usage_partitions(month, 1) WHERE failure IS NOT NULL;
    IF failed IS NOT NULL THEN RAISE EXCEPTION 'the month % cannot be made: %', month, failed; END IF;
  END LOOP;
  INSERT INTO usage_record SELECT * FROM usage_record_default;
  GET DIAGNOSTICS moved = ROW_COUNT;
  ALTER TABLE usage_record_default DISABLE TRIGGER append_only_truncate;
  TRUNCATE usage_record_default;
  ALTER TABLE usage_record_default ENABLE ALWAYS TRIGGER append_only_truncate;
  ALTER TABLE usage_record ATTACH PARTITION usage_record_default DEFAULT;
  ALTER TABLE usage_record_default ENABLE ALWAYS TRIGGER append_only;
  RETURN moved;
END $$`;
