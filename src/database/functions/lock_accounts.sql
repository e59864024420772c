-- The lock of accounts, until the end of the transaction. Every transaction that moves an account's money, or counts rows that
-- belong to it, takes it first. Accounts are locked in the order of their ids. The rows are as they are behind the lock.

CREATE OR REPLACE FUNCTION lock_accounts(ids uuid[])
RETURNS TABLE (id uuid, posted bigint, held bigint, owed bigint, open_holds int, keeps_answers boolean)
LANGUAGE plpgsql ROWS 10 AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT a.id, a.posted, a.held, a.owed, a.open_holds, a.keeps_answers
  FROM account a WHERE a.id = ANY (ids) ORDER BY a.id FOR NO KEY UPDATE;
END $$;

-- The same for those that no other transaction has locked; the others are left out.
CREATE OR REPLACE FUNCTION lock_free_accounts(ids uuid[]) RETURNS TABLE (id uuid)
LANGUAGE plpgsql ROWS 10 SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY SELECT a.id FROM account a WHERE a.id = ANY (ids) ORDER BY a.id FOR NO KEY UPDATE SKIP LOCKED;
END $$;
