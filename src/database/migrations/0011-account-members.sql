-- Members of accounts. The person whose account it is (auth.person.account_id) is an owner without a row, so what the version before
-- writes is right: it knows these people only, and gives them everything. A row makes another person a member.

CREATE TABLE account_member (
  account_id uuid        NOT NULL REFERENCES account (id),
  person_id  uuid        NOT NULL REFERENCES auth.person (id) ON DELETE CASCADE,
  role       text        NOT NULL CHECK (role IN ('owner', 'admin', 'developer', 'billing', 'viewer')),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (account_id, person_id)
);
CREATE INDEX account_member_person ON account_member (person_id);

-- An invitation by mail. It is over when it was accepted, revoked, or too old.
CREATE TABLE account_invite (
  id          uuid        NOT NULL PRIMARY KEY,
  account_id  uuid        NOT NULL REFERENCES account (id),
  digest      bytea       NOT NULL UNIQUE CHECK (length(digest) = 32),
  email       text        NOT NULL CHECK (email = lower(email)),
  role        text        NOT NULL CHECK (role IN ('owner', 'admin', 'developer', 'billing', 'viewer')),
  invited_by  uuid        NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at  timestamptz NOT NULL,
  accepted_at timestamptz,
  revoked_at  timestamptz,
  CONSTRAINT account_invite_one_end CHECK (num_nonnulls(accepted_at, revoked_at) <= 1)
);
CREATE INDEX account_invite_account ON account_invite (account_id, id);

-- What members, services and operators changed in an account, as its members read it.
CREATE TABLE account_activity (
  account_id uuid        NOT NULL REFERENCES account (id),
  id         uuid        NOT NULL,
  done_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  person_id  uuid,
  actor      text        NOT NULL,
  action     text        NOT NULL,
  subject    text,
  facts      jsonb       NOT NULL DEFAULT '{}',
  PRIMARY KEY (account_id, id)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON account_activity FOR EACH ROW EXECUTE FUNCTION refuse_change();
ALTER TABLE account_activity ENABLE ALWAYS TRIGGER append_only;
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON account_activity FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE account_activity ENABLE ALWAYS TRIGGER append_only_truncate;

-- The account that a session acts for. Null: the person's own.
ALTER TABLE auth.session ADD COLUMN acts_for uuid;
-- What the account is called. Null: by the e-mail address of its customer.
ALTER TABLE customer ADD COLUMN name text;
-- Who made the key. Null: a service, an operator, or code of before. The playground of a member other than the person whose account
-- it is has a key of its own, so that its usage is that of one member.
ALTER TABLE api_key
  ADD COLUMN person_id uuid,
  ADD COLUMN is_member_playground boolean NOT NULL DEFAULT false;

GRANT SELECT, INSERT, UPDATE (role), DELETE ON account_member TO saldo_serve;
GRANT SELECT, INSERT, UPDATE (accepted_at, revoked_at) ON account_invite TO saldo_serve;
GRANT SELECT, INSERT ON account_activity TO saldo_serve;
GRANT UPDATE (name) ON customer TO saldo_serve;
