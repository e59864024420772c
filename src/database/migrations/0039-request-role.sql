-- The request path gets a login that cannot mint, saldo_request: it reads what it needs, and moves money through the functions below alone.
-- They run with the rights of saldo_ledger, a role without a login that may do what these functions do and nothing else. None of them
-- lets a balance rise, except by the release of a hold. The version before goes on as saldo_serve, which keeps its own rights.

DO $$
DECLARE
  new_role record;
BEGIN
  FOR new_role IN SELECT * FROM (VALUES ('saldo_ledger', 'NOLOGIN'), ('saldo_request', 'LOGIN')) AS r(name, login) LOOP
    BEGIN
      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = new_role.name) THEN
        EXECUTE format('CREATE ROLE %I %s', new_role.name, new_role.login);
      END IF;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; -- another database of this server was quicker
    END;
  END LOOP;
  -- Whoever replaces a function has to be a member of its owner.
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    EXECUTE format('GRANT saldo_ledger TO %I', current_user);
  END IF;
END $$;

GRANT USAGE ON SCHEMA public TO saldo_ledger, saldo_request;
GRANT SELECT, UPDATE (posted, held, owed, open_holds) ON account TO saldo_ledger;
GRANT SELECT, UPDATE (slots, slot_counts, budget_start, budget_spent, budget_held, tokens_held, token_times, token_counts)
  ON api_key TO saldo_ledger;
GRANT SELECT, UPDATE (budget_start, budget_spent, budget_held) ON member_budget TO saldo_ledger;
GRANT SELECT, INSERT, DELETE ON hold TO saldo_ledger;
GRANT UPDATE (amount, progress_input_tokens, progress_cached_tokens, progress_output_tokens) ON hold TO saldo_ledger;
GRANT SELECT, UPDATE (collected) ON receivable TO saldo_ledger;
GRANT SELECT, INSERT ON usage_record, late_usage, posting TO saldo_ledger;
GRANT SELECT, INSERT, UPDATE (request_id, body_digest, taken_at) ON idempotency_key TO saldo_ledger;

GRANT SELECT ON account, hold, usage_record, admission_switch, catalog_upstream, catalog_model TO saldo_request;
GRANT SELECT, UPDATE (slots, slot_counts) ON api_key TO saldo_request;
GRANT SELECT, INSERT ON kept_answer TO saldo_request;
GRANT SELECT, DELETE ON idempotency_key TO saldo_request;
GRANT EXECUTE ON FUNCTION synchronous_standbys TO saldo_request;

-- A new owner has to be able to create in the schema at that moment, and not later.
GRANT CREATE ON SCHEMA public TO saldo_ledger;
DO $$
DECLARE
  f regprocedure;
BEGIN
  FOR f IN SELECT p.oid FROM pg_proc p
           WHERE p.pronamespace = 'public'::regnamespace AND p.prosecdef
             AND p.proname IN ('admit_request', 'admit_request_once', 'settle_request', 'commit_requests', 'post_late_usage',
                               'lock_free_accounts') LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM public', f);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO saldo_serve, saldo_request', f);
    EXECUTE format('ALTER FUNCTION %s OWNER TO saldo_ledger', f);
  END LOOP;
END $$;
REVOKE CREATE ON SCHEMA public FROM saldo_ledger;
