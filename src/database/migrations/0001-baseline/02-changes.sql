-- Which changes this schema has, and the functions as they were last applied. The serving role may read them, so that a login that
-- only serves can see that there is nothing to do.

-- oldest_code: the number of the newest change that code must know to run on the schema from here on.
CREATE TABLE schema_change (
  number      int         NOT NULL PRIMARY KEY,
  name        text        NOT NULL,
  oldest_code int         NOT NULL CHECK (oldest_code <= number),
  applied_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- name: a file of src/database/functions without its ending. hash: SHA-256 of its text.
CREATE TABLE schema_function (
  name       text        NOT NULL PRIMARY KEY,
  hash       text        NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

GRANT SELECT ON schema_change, schema_function TO saldo_serve;
