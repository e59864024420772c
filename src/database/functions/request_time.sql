-- The time in the id of a request, a UUIDv7. Partitions, pages and the audit's horizon are ranges of ids.

-- The time at which a UUIDv7 was made.
CREATE OR REPLACE FUNCTION uuid_time(id uuid) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT timestamptz 'epoch' + ('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint * interval '1 millisecond'
$$;

-- The smallest id of a time.
CREATE OR REPLACE FUNCTION uuid_floor(at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT rpad(lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0'), 32, '0')::uuid
$$;

-- The quarter of an hour of a request, counted from 1970.
CREATE OR REPLACE FUNCTION quarter_of(id uuid) RETURNS int LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint / 900000)::int
$$;

-- The smallest id of a quarter.
CREATE OR REPLACE FUNCTION quarter_floor(quarter int) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT rpad(lpad(to_hex(quarter::bigint * 900000), 12, '0'), 32, '0')::uuid
$$;

-- PostgreSQL has its own function only from version 18 on.
CREATE OR REPLACE FUNCTION new_uuidv7() RETURNS uuid LANGUAGE sql VOLATILE AS $$
  SELECT (lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0') || '7'
          || substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid
$$;

-- Like uuid_time, whose expression PostgreSQL cannot inline into a statement or an index.
CREATE OR REPLACE FUNCTION request_time(id uuid) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT to_timestamp(('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint / 1000.0::float8)
$$;

-- When a request was settled. It is never before the request's own time: clocks differ. A record from before this column has only
-- its own time, so the statements that customers have seen do not change.
CREATE OR REPLACE FUNCTION settled_time(id uuid, settled_at timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT greatest(settled_at, request_time(id))
$$;

-- Whether a request was settled more than a minute after its own time. Such requests are few and have an index of their own. In
-- PL/pgSQL, because every settlement calls it: an expression would be prepared again by each statement that inserts a record.
-- With the schema's name, because PostgreSQL builds an index without a search path.
CREATE OR REPLACE FUNCTION settled_late(id uuid, settled_at timestamptz) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN coalesce(settled_at - public.request_time(id) > interval '60 seconds', false);
END $$;

-- Whether an id's time is at most a day ahead of its row's: clocks differ. A row with a later id would lie in a month that has no partition,
-- and no seal or audit would cover it until that time has come. In PL/pgSQL for the reason of settled_late: each hold calls it.
CREATE OR REPLACE FUNCTION id_has_begun(id uuid, at timestamptz) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN coalesce(public.request_time(id) - at <= interval '1 day', true);
END $$;
