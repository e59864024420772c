-- The tree of a root is kept, so that a day costs as much as the accounts that have new lines: billing/proof/README.md.

-- The place of an account among the leaves of all trees: the order in which accounts got their first seal.
CREATE TABLE proof_place (
  position   int  NOT NULL PRIMARY KEY CHECK (position >= 0),
  account_id uuid NOT NULL UNIQUE REFERENCES account (id)
);

-- The hash over sixteen nodes of the level below, as it is from a seal on. Those of level 1 are over leaves.
CREATE TABLE proof_node (
  level    int   NOT NULL CHECK (level > 0),
  position int   NOT NULL CHECK (position >= 0),
  seal     int   NOT NULL,
  hash     bytea NOT NULL CHECK (octet_length(hash) = 32),
  PRIMARY KEY (level, position, seal)
);

-- The chain of the postings between our own accounts and those of merchants, which are in no account's chain.
CREATE TABLE house_seal (
  seal      int         NOT NULL PRIMARY KEY,
  lines     bigint      NOT NULL CHECK (lines >= 0),
  digest    bytea       NOT NULL CHECK (octet_length(digest) = 32),
  marks     bytea       NOT NULL,
  sealed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The server and its oldest open transaction when the window was opened: what was changed later is found by it. Null: not known.
ALTER TABLE proof_window ADD COLUMN trace text;

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON proof_place FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON proof_place FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON proof_node FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON proof_node FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON house_seal FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON house_seal FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE proof_place ENABLE ALWAYS TRIGGER append_only, ENABLE ALWAYS TRIGGER append_only_truncate;
ALTER TABLE proof_node ENABLE ALWAYS TRIGGER append_only, ENABLE ALWAYS TRIGGER append_only_truncate;
ALTER TABLE house_seal ENABLE ALWAYS TRIGGER append_only, ENABLE ALWAYS TRIGGER append_only_truncate;

GRANT SELECT, INSERT ON proof_place, proof_node, house_seal TO saldo_serve;
