-- The role that writes the made-up past of a demo (`saldo seed`). It has no login: only the owner of the schema may take it on. It
-- can add rows with moments of their own, and move the balance with them; nothing that was posted can be changed by it either.

DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'saldo_seed') THEN CREATE ROLE saldo_seed NOLOGIN; END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; -- another database of this server was quicker
END $$;
DO $$ BEGIN
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    EXECUTE format('GRANT saldo_seed TO %I', current_user);
  END IF;
END $$;

GRANT USAGE ON SCHEMA public TO saldo_seed;
GRANT SELECT, UPDATE (posted) ON account TO saldo_seed;
GRANT SELECT, UPDATE (slots, slot_counts) ON api_key TO saldo_seed;
GRANT INSERT ON top_up, sandbox_payment, posting, usage_record TO saldo_seed;
