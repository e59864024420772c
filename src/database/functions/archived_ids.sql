-- Ids of months whose usage records are files. Where a machine and the database both have a clock that is months behind, a request would
-- get such an id, and its record would count nowhere.

-- Refuses holds with ids before `first_id`, and records that would lie in no month. An id of zeros refuses none. The owner calls it as the mark of
-- the archive moves. It is a constraint with a constant, so a request reads nothing for it, and a table of no archive has none.
CREATE OR REPLACE FUNCTION refuse_ids_before(relation regclass, first_id uuid) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
DECLARE
  name CONSTANT text := 'id_is_at_hand';
  id CONSTANT text := CASE relation WHEN 'public.hold'::regclass THEN 'id' ELSE 'request_id' END;
  own text := (SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = relation AND conname = name);
BEGIN
  IF own LIKE '%' || first_id || '%' OR (own IS NULL AND first_id = '00000000-0000-0000-0000-000000000000') THEN RETURN; END IF;
  EXECUTE format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS %I', relation, name);
  IF first_id > '00000000-0000-0000-0000-000000000000' THEN
    EXECUTE format('ALTER TABLE %s ADD CONSTRAINT %I CHECK (%I >= %L::uuid) NOT VALID', relation, name, id, first_id);
  END IF;
END $$;
REVOKE ALL ON FUNCTION refuse_ids_before FROM public;
