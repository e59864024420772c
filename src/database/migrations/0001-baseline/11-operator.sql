-- What operators order, what they have set, and what a database is for.

CREATE TABLE operator_action (
  id       uuid        NOT NULL PRIMARY KEY,
  operator text        NOT NULL,
  action   text        NOT NULL,
  subject  text,
  reason   text,
  facts    jsonb       NOT NULL DEFAULT '{}',
  done_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX operator_action_subject ON operator_action (subject, id);
CREATE INDEX operator_action_operator ON operator_action (operator, id);

-- By name. A change is a new version; the highest one holds.
CREATE TABLE operator_setting (
  name    text        NOT NULL,
  version int         NOT NULL CHECK (version > 0),
  value   text        NOT NULL,
  set_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (name, version)
);

-- Orders that wait for a second operator.
CREATE TABLE operator_order (
  id              uuid        NOT NULL PRIMARY KEY,
  kind            text        NOT NULL,
  reference       text        NOT NULL,
  subject         text        NOT NULL,
  facts           jsonb       NOT NULL,
  payload         jsonb       NOT NULL,
  reason          text,
  ordered_by      text        NOT NULL,
  ordered_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at      timestamptz NOT NULL,
  state           text        NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'approved', 'refused')),
  decided_by      text,
  decided_at      timestamptz,
  decision_reason text,
  CONSTRAINT operator_order_reference UNIQUE (kind, reference),
  CONSTRAINT operator_order_decision CHECK (
    (state = 'pending') = (decided_by IS NULL) AND (decided_by IS NULL) = (decided_at IS NULL)),
  CONSTRAINT operator_order_second CHECK (state <> 'approved' OR lower(decided_by) <> lower(ordered_by))
);
CREATE INDEX operator_order_pending ON operator_order (id) WHERE state = 'pending';
CREATE TRIGGER same_order BEFORE UPDATE ON operator_order FOR EACH ROW EXECUTE FUNCTION refuse_other_order();
ALTER TABLE operator_order ENABLE ALWAYS TRIGGER same_order;

-- What an operator has ordered without a second one in the last day, by currency, in whole coins, so that many small orders count
-- as one. The row is the lock that parallel orders of one operator queue at; a minute of it is one entry, so it never has more
-- than a day of them.
CREATE TABLE ordered_alone (
  operator      text             NOT NULL,
  currency_code text             NOT NULL,
  minutes       timestamptz[]    NOT NULL DEFAULT '{}',
  amounts       numeric(38,18)[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (operator, currency_code),
  CONSTRAINT ordered_alone_pairs CHECK (cardinality(minutes) = cardinality(amounts))
);

-- A demo's database holds play money and credentials that were printed, so it never serves production. demo_credentials: the key
-- and the pair that a demo prints, kept so that the next start prints the same ones.
CREATE TABLE database_purpose (
  the_row          boolean     NOT NULL PRIMARY KEY DEFAULT true CHECK (the_row),
  purpose          text        NOT NULL CHECK (purpose IN ('demo', 'production')),
  since            timestamptz NOT NULL DEFAULT clock_timestamp(),
  demo_credentials text,
  CONSTRAINT demo_credentials_in_demo CHECK (purpose = 'demo' OR demo_credentials IS NULL)
);

GRANT SELECT, INSERT ON operator_action, operator_setting, operator_order TO saldo_serve;
GRANT SELECT, INSERT, UPDATE ON ordered_alone, database_purpose TO saldo_serve;
GRANT UPDATE (state, decided_by, decided_at, decision_reason) ON operator_order TO saldo_serve;
