-- Customers, the people behind them, how they sign in, and the tokens of internal services. Sign-in has a schema of its own:
-- its tables have the commonest of names. Statements name the schema, because a search path is state of a session.

CREATE TABLE customer (
  account_id uuid        NOT NULL PRIMARY KEY REFERENCES account (id),
  email      text        NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  language   text        NOT NULL DEFAULT 'id' CHECK (language IN ('id', 'en')),
  time_zone  text        NOT NULL DEFAULT 'Asia/Jakarta'
);
CREATE UNIQUE INDEX customer_email ON customer (lower(email));

-- account_id null: the token acts for whichever account a call names.
CREATE TABLE service_token (
  id           uuid        NOT NULL PRIMARY KEY,
  digest       bytea       NOT NULL UNIQUE CHECK (length(digest) = 32),
  account_id   uuid        REFERENCES account (id),
  name         text        NOT NULL,
  prefix       text        NOT NULL,
  last_four    text        NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  revoked_at   timestamptz,
  expires_at   timestamptz NOT NULL DEFAULT clock_timestamp() + interval '90 days',
  last_used_at timestamptz,
  scopes       text[]      NOT NULL DEFAULT '{read}'
);

GRANT SELECT, INSERT ON customer, service_token TO saldo_serve;
GRANT UPDATE (language, time_zone) ON customer TO saldo_serve;
GRANT UPDATE (revoked_at, last_used_at) ON service_token TO saldo_serve;

-- account_id: the ledger account that is the person's own. Null until the address is verified: to name an address gives no
-- account, and none that the operator has made for the owner of the address. two_factor_enabled: the person has an
-- authenticator app or a passkey, which a sign-in by password has to ask for.
CREATE TABLE auth.person (
  id                 uuid        NOT NULL PRIMARY KEY,
  email              text        NOT NULL CHECK (email = lower(email)) UNIQUE,
  email_verified     boolean     NOT NULL DEFAULT false,
  name               text        NOT NULL,
  image              text,
  account_id         uuid        UNIQUE REFERENCES public.account (id),
  is_operator        boolean     NOT NULL DEFAULT false,
  created_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
  two_factor_enabled boolean     NOT NULL DEFAULT false,
  CONSTRAINT person_account_verified CHECK (account_id IS NULL OR email_verified)
);
-- People who sign up and never verify their address are removed after some days.
CREATE INDEX person_unverified ON auth.person (updated_at) WHERE NOT email_verified;

-- A password, of which an argon2id hash is kept.
CREATE TABLE auth.credential (
  id                       uuid        NOT NULL PRIMARY KEY,
  user_id                  uuid        NOT NULL REFERENCES auth.person (id) ON DELETE CASCADE,
  account_id               text        NOT NULL,
  provider_id              text        NOT NULL,
  access_token             text,
  refresh_token            text,
  id_token                 text,
  access_token_expires_at  timestamptz,
  refresh_token_expires_at timestamptz,
  scope                    text,
  password                 text,
  created_at               timestamptz NOT NULL,
  updated_at               timestamptz NOT NULL,
  UNIQUE (user_id, provider_id)
);

-- Only the digest of a session's token is kept: a copy of this table signs in nowhere. proved_at: the last proof, null where
-- there was none (a link in a mail). factor_proved: one of the proofs was a second factor. by_demo: a demo's one click, which
-- counts in a demo only. seen_at: the last call, within a minute or so.
CREATE TABLE auth.session (
  id            uuid        NOT NULL PRIMARY KEY,
  token_digest  bytea       NOT NULL UNIQUE CHECK (length(token_digest) = 32),
  user_id       uuid        NOT NULL REFERENCES auth.person (id) ON DELETE CASCADE,
  expires_at    timestamptz NOT NULL,
  ip_address    text,
  user_agent    text,
  created_at    timestamptz NOT NULL,
  updated_at    timestamptz NOT NULL,
  proved_at     timestamptz,
  factor_proved boolean     NOT NULL DEFAULT false,
  by_demo       boolean     NOT NULL DEFAULT false,
  seen_at       timestamptz
);
CREATE INDEX session_of_user ON auth.session (user_id);
CREATE INDEX session_expiry ON auth.session (expires_at);

-- secret and backup_codes are encrypted with the signing secret. Not verified: no code of the app was shown yet; the row may
-- also hold the recovery codes of a person who has passkeys only.
CREATE TABLE auth.two_factor (
  id           uuid        NOT NULL PRIMARY KEY,
  user_id      uuid        NOT NULL UNIQUE REFERENCES auth.person (id) ON DELETE CASCADE,
  secret       text        NOT NULL,
  backup_codes text        NOT NULL,
  verified     boolean     NOT NULL DEFAULT false,
  created_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE auth.passkey (
  id            uuid             NOT NULL PRIMARY KEY,
  user_id       uuid             NOT NULL REFERENCES auth.person (id) ON DELETE CASCADE,
  name          text,
  public_key    text             NOT NULL,
  credential_id text             NOT NULL UNIQUE,
  counter       double precision NOT NULL,
  device_type   text             NOT NULL,
  backed_up     boolean          NOT NULL,
  transports    text,
  aaguid        text,
  created_at    timestamptz      NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX passkey_user ON auth.passkey (user_id);

-- Links by mail that change something once; identifiers are digests.
CREATE TABLE auth.verification (
  id         uuid        NOT NULL PRIMARY KEY,
  identifier text        NOT NULL,
  value      text        NOT NULL,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX verification_identifier ON auth.verification (identifier);
CREATE INDEX verification_expiry ON auth.verification (expires_at);

-- How far ahead of the clock a bucket is booked: one row decides for every node. A bucket whose time has passed is full.
CREATE TABLE auth.throttle (
  bucket       text        NOT NULL PRIMARY KEY,
  booked_until timestamptz NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX throttle_booked ON auth.throttle (booked_until);

-- Links that make an operator, once.
CREATE TABLE auth.operator_invite (
  id         uuid        NOT NULL PRIMARY KEY,
  digest     bytea       NOT NULL UNIQUE CHECK (length(digest) = 32),
  expires_at timestamptz NOT NULL,
  used_at    timestamptz,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- What cookies and links are signed with where the environment names nothing, so that every node of a database agrees.
CREATE TABLE auth.signing_secret (
  the_row boolean NOT NULL PRIMARY KEY DEFAULT true CHECK (the_row),
  secret  text    NOT NULL
);

-- Who tried what from where. E-mail addresses are keyed hashes.
CREATE TABLE auth.security_event (
  id         uuid        NOT NULL PRIMARY KEY,
  kind       text        NOT NULL,
  outcome    text        NOT NULL CHECK (outcome IN ('succeeded', 'refused')),
  person_id  uuid,
  email_hash text,
  network    text        NOT NULL DEFAULT '',
  subject    text        NOT NULL DEFAULT '',
  detail     text        NOT NULL DEFAULT '',
  times      int         NOT NULL DEFAULT 1 CHECK (times > 0),
  written_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX security_event_person ON auth.security_event (person_id, id) WHERE person_id IS NOT NULL;
CREATE INDEX security_event_email ON auth.security_event (email_hash, id) WHERE email_hash IS NOT NULL;

-- Credentials of the demo's person are removed when a demo takes the address, and when it is cleared.
GRANT SELECT, INSERT, UPDATE, DELETE
  ON auth.person, auth.credential, auth.session, auth.verification, auth.throttle, auth.two_factor, auth.passkey TO saldo_serve;
GRANT SELECT, INSERT, DELETE ON auth.security_event TO saldo_serve;
GRANT SELECT, INSERT ON auth.operator_invite, auth.signing_secret TO saldo_serve;
GRANT UPDATE (used_at) ON auth.operator_invite TO saldo_serve;
GRANT UPDATE (secret) ON auth.signing_secret TO saldo_serve; -- for encrypting it under another key
