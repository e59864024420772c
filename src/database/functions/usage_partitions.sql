-- The months of usage_record.

-- Makes the partitions of the given months. It runs with the owner's rights, because the serving role's daily worker calls it.
-- The row trigger is cloned without ENABLE ALWAYS, and TRUNCATE triggers are not cloned, so both are set here. Each month is a
-- step of its own: a month whose records are in the default partition, or in the archive, cannot be made, and is returned with the reason.
CREATE OR REPLACE FUNCTION ensure_usage_partitions(first_month date, months int) RETURNS TABLE (partition text, failure text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public AS $$
DECLARE
  month timestamptz; name text; at_hand timestamptz := '-infinity';
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('ensure_usage_partitions'));
  -- The baseline calls this before there is an archive.
  IF to_regclass('public.usage_archive_mark') IS NOT NULL THEN
    at_hand := (SELECT before_month::timestamp AT TIME ZONE 'UTC' FROM public.usage_archive_mark);
  END IF;
  FOR i IN 0 .. least(months, 36) - 1 LOOP
    month := (date_trunc('month', first_month::timestamp) + make_interval(months => i)) AT TIME ZONE 'UTC';
    name := 'usage_record_' || to_char(month AT TIME ZONE 'UTC', 'YYYY_MM');
    CONTINUE WHEN to_regclass('public.' || name) IS NOT NULL;
    partition := name; failure := NULL;
    IF month < at_hand THEN
      failure := 'its records are in the archive';
      RETURN NEXT;
      CONTINUE;
    END IF;
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
END $$;
REVOKE ALL ON FUNCTION ensure_usage_partitions FROM public;
GRANT EXECUTE ON FUNCTION ensure_usage_partitions TO saldo_serve;

-- Moves the records of the default partition to their months. The owner of the schema calls it by hand, as database/README.md
-- describes; no other role may. The records do not change: their table gets another name, and new rows with the same values are
-- inserted into the months.
CREATE OR REPLACE FUNCTION file_stray_usage() RETURNS int LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
DECLARE
  moved int; month date; failed text; of_new_rows record;
BEGIN
  LOCK TABLE usage_record IN ACCESS EXCLUSIVE MODE;
  ALTER TABLE usage_record DETACH PARTITION usage_record_default;
  FOR month IN SELECT DISTINCT date_trunc('month', uuid_time(request_id) AT TIME ZONE 'UTC')::date FROM usage_record_default LOOP
    SELECT failure INTO failed FROM ensure_usage_partitions(month, 1) WHERE failure IS NOT NULL;
    IF failed IS NOT NULL THEN RAISE EXCEPTION 'the month % cannot be made: %', month, failed; END IF;
  END LOOP;
  -- What holds for new rows alone is put aside for these, which are older.
  CREATE TEMPORARY TABLE checks_of_new_rows ON COMMIT DROP AS
  SELECT conname AS name, pg_get_constraintdef(oid) AS text FROM pg_constraint
  WHERE conrelid = 'public.usage_record'::regclass AND contype = 'c' AND NOT convalidated;
  FOR of_new_rows IN SELECT * FROM checks_of_new_rows LOOP
    EXECUTE format('ALTER TABLE public.usage_record DROP CONSTRAINT %I', of_new_rows.name);
  END LOOP;
  INSERT INTO usage_record SELECT * FROM usage_record_default;
  GET DIAGNOSTICS moved = ROW_COUNT;
  FOR of_new_rows IN SELECT * FROM checks_of_new_rows LOOP
    EXECUTE format('ALTER TABLE public.usage_record ADD CONSTRAINT %I %s', of_new_rows.name, of_new_rows.text);
  END LOOP;
  DROP TABLE checks_of_new_rows;
  ALTER TABLE usage_record_default DISABLE TRIGGER append_only_truncate;
  TRUNCATE usage_record_default;
  ALTER TABLE usage_record_default ENABLE ALWAYS TRIGGER append_only_truncate;
  ALTER TABLE usage_record ATTACH PARTITION usage_record_default DEFAULT;
  ALTER TABLE usage_record_default ENABLE ALWAYS TRIGGER append_only;
  RETURN moved;
END $$;
REVOKE ALL ON FUNCTION file_stray_usage FROM public;
