-- The role that serves, and the schema of sign-in. It may read and add, and change only what the request path changes. Every start lays its settings on it.

DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'saldo_serve') THEN CREATE ROLE saldo_serve LOGIN; END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; -- another database of this server was quicker
END $$;

-- An owner that is no superuser may become the serving role only as a member of it, and from PostgreSQL 16 on the
-- maker of a role is none by itself.
DO $$ BEGIN
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    EXECUTE format('GRANT saldo_serve TO %I', current_user);
  END IF;
END $$;

CREATE SCHEMA auth;
GRANT USAGE ON SCHEMA public, auth TO saldo_serve;
