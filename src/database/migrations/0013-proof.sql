-- The chains of accounts and their signed roots: billing/proof/README.md.

-- The lines between two moments, of all accounts.
CREATE TABLE proof_window (
  seal       int         NOT NULL PRIMARY KEY CHECK (seal > 0),
  from_time  timestamptz NOT NULL,
  until_time timestamptz NOT NULL,
  day        date        NOT NULL,
  opened_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  CHECK (from_time < until_time)
);

-- An account's chain up to the end of a window in which it has lines. marks: four bytes of each line's hash.
CREATE TABLE account_seal (
  account_id uuid          NOT NULL REFERENCES account (id),
  seal       int           NOT NULL,
  lines      bigint        NOT NULL CHECK (lines > 0),
  balance    numeric(38,0) NOT NULL,
  digest     bytea         NOT NULL CHECK (octet_length(digest) = 32),
  marks      bytea         NOT NULL,
  sealed_at  timestamptz   NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (account_id, seal)
);

CREATE TABLE proof_root (
  seal       int         NOT NULL PRIMARY KEY,
  text       text        NOT NULL,
  signatures jsonb       NOT NULL,
  signed_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Where a root was sent.
CREATE TABLE proof_sent (
  seal    int         NOT NULL,
  place   text        NOT NULL CHECK (place IN ('file', 'mail', 'webhook')),
  sent_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (seal, place)
);

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON proof_window FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON proof_window FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON account_seal FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON account_seal FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON proof_root FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON proof_root FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE proof_window ENABLE ALWAYS TRIGGER append_only, ENABLE ALWAYS TRIGGER append_only_truncate;
ALTER TABLE account_seal ENABLE ALWAYS TRIGGER append_only, ENABLE ALWAYS TRIGGER append_only_truncate;
ALTER TABLE proof_root ENABLE ALWAYS TRIGGER append_only, ENABLE ALWAYS TRIGGER append_only_truncate;

GRANT SELECT, INSERT ON proof_window, account_seal, proof_root, proof_sent TO saldo_serve;
