import { Migration } from "@mikro-orm/migrations";

// People, how they sign in, and the tokens of internal services. Sign-in lives in a schema of its own: the names of its
// tables are everybody's favourites. Statements name the schema, because a search path is state of a session.
export class Migration0011People extends Migration {
  override up(): void {
    this.addSql(`CREATE SCHEMA auth`);
    this.addSql(`GRANT USAGE ON SCHEMA auth TO saldo_serve`);

    // account_id: the ledger account that is the person's own. Null until the address is verified: whoever only says that an
    // address is his gets no account by it, and none that the operator has made for the owner of the address.
    this.addSql(`
      CREATE TABLE auth.person (
        id             uuid        NOT NULL PRIMARY KEY,
        email          text        NOT NULL CHECK (email = lower(email)) UNIQUE,
        email_verified boolean     NOT NULL DEFAULT false,
        name           text        NOT NULL,
        image          text,
        account_id     uuid        UNIQUE REFERENCES public.account (id),
        is_operator    boolean     NOT NULL DEFAULT false,
        created_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
        updated_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
        CONSTRAINT person_account_verified CHECK (account_id IS NULL OR email_verified)
      )`);
    // How a person proves who it is. One way so far: a password, of which an argon2id hash is kept.
    this.addSql(`
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
      )`);
    // Only the digest of a session's token is kept: who reads a copy of this table is signed in nowhere.
    this.addSql(`
      CREATE TABLE auth.session (
        id           uuid        NOT NULL PRIMARY KEY,
        token_digest bytea       NOT NULL UNIQUE CHECK (length(token_digest) = 32),
        user_id      uuid        NOT NULL REFERENCES auth.person (id) ON DELETE CASCADE,
        expires_at   timestamptz NOT NULL,
        ip_address   text,
        user_agent   text,
        created_at   timestamptz NOT NULL,
        updated_at   timestamptz NOT NULL
      )`);
    this.addSql(`CREATE INDEX session_of_user ON auth.session (user_id)`);
    this.addSql(`CREATE INDEX session_expiry ON auth.session (expires_at)`);
    // Links by mail that change something once; identifiers are digests.
    this.addSql(`
      CREATE TABLE auth.verification (
        id         uuid        NOT NULL PRIMARY KEY,
        identifier text        NOT NULL,
        value      text        NOT NULL,
        expires_at timestamptz NOT NULL,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL
      )`);
    this.addSql(`CREATE INDEX verification_identifier ON auth.verification (identifier)`);
    this.addSql(`CREATE INDEX verification_expiry ON auth.verification (expires_at)`);

    // How far ahead of the clock a bucket is booked: one row decides for every node. A bucket whose time has passed is full.
    this.addSql(`
      CREATE TABLE auth.throttle (
        bucket       text        NOT NULL PRIMARY KEY,
        booked_until timestamptz NOT NULL
      ) WITH (fillfactor = 70)`);
    this.addSql(`CREATE INDEX throttle_booked ON auth.throttle (booked_until)`);
    // Links that make an operator, once.
    this.addSql(`
      CREATE TABLE auth.operator_invite (
        id         uuid        NOT NULL PRIMARY KEY,
        digest     bytea       NOT NULL UNIQUE CHECK (length(digest) = 32),
        expires_at timestamptz NOT NULL,
        used_at    timestamptz,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp()
      )`);
    // What cookies and links are signed with where the environment names nothing, so that every node of a database agrees.
    this.addSql(`
      CREATE TABLE auth.signing_secret (
        the_row boolean NOT NULL PRIMARY KEY DEFAULT true CHECK (the_row),
        secret  text    NOT NULL
      )`);

    // account_id null: the token acts for whichever account a call names.
    this.addSql(`
      CREATE TABLE service_token (
        id         uuid        NOT NULL PRIMARY KEY,
        digest     bytea       NOT NULL UNIQUE CHECK (length(digest) = 32),
        account_id uuid        REFERENCES account (id),
        name       text        NOT NULL,
        prefix     text        NOT NULL,
        last_four  text        NOT NULL,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        revoked_at timestamptz
      )`);

    // What a customer has chosen.
    this.addSql(`
      ALTER TABLE customer
        ADD COLUMN language text NOT NULL DEFAULT 'id' CHECK (language IN ('id', 'en')),
        ADD COLUMN time_zone text NOT NULL DEFAULT 'Asia/Jakarta'`);
    this.addSql(`GRANT UPDATE (language, time_zone) ON customer TO saldo_serve`);

    this.addSql(`GRANT SELECT, INSERT, UPDATE ON auth.person, auth.credential TO saldo_serve`);
    this.addSql(
      `GRANT SELECT, INSERT, UPDATE, DELETE ON auth.session, auth.verification, auth.throttle TO saldo_serve`,
    );
    this.addSql(`GRANT SELECT, INSERT ON auth.operator_invite, auth.signing_secret, service_token TO saldo_serve`);
    this.addSql(`GRANT UPDATE (used_at) ON auth.operator_invite TO saldo_serve`);
    this.addSql(`GRANT UPDATE (revoked_at) ON service_token TO saldo_serve`);
  }
}
