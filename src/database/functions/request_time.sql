-- What the id of a request, a UUIDv7, says of its time. Partitions, pages and the audit's horizon are ranges of ids.

-- The moment a UUIDv7 was made.
CREATE OR REPLACE FUNCTION uuid_time(id uuid) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT timestamptz 'epoch' + ('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint * interval '1 millisecond'
$$;

-- The smallest id of a moment.
CREATE OR REPLACE FUNCTION uuid_floor(at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT rpad(lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0'), 32, '0')::uuid
$$;

-- Which quarter of an hour since 1970 a request is of.
CREATE OR REPLACE FUNCTION quarter_of(id uuid) RETURNS int LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint / 900000)::int
$$;

-- The smallest id of a quarter.
CREATE OR REPLACE FUNCTION quarter_floor(quarter int) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT rpad(lpad(to_hex(quarter::bigint * 900000), 12, '0'), 32, '0')::uuid
$$;

-- PostgreSQL has its own only from 18 on.
CREATE OR REPLACE FUNCTION new_uuidv7() RETURNS uuid LANGUAGE sql VOLATILE AS $$
  SELECT (lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0') || '7'
          || substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid
$$;

-- Like uuid_time, of which PostgreSQL cannot write the expression into a statement or an index.
CREATE OR REPLACE FUNCTION request_time(id uuid) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT to_timestamp(('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint / 1000.0::float8)
$$;

-- When a request was settled. It is never before the request's own time: clocks differ. A record of before the column has only that
-- time, so the statements that customers have seen stay as they were.
CREATE OR REPLACE FUNCTION settled_time(id uuid, settled_at timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT greatest(settled_at, request_time(id))
$$;

-- Whether a request was settled more than a minute after its own time. Few are: they have an index of their own. In PL/pgSQL,
-- because every settlement asks: an expression would be prepared again by each statement that inserts a record. With the schema,
-- because PostgreSQL makes an index with no search path.
CREATE OR REPLACE FUNCTION settled_late(id uuid, settled_at timestamptz) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN coalesce(settled_at - public.request_time(id) > interval '60 seconds', false);
END $$;
