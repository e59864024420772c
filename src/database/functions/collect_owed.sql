-- Collects an account's debt from its unheld money, the oldest receivable first. The lock order is account, then receivables;
-- every caller has locked the account already. Collected money is no longer owed, so a repeated call collects nothing; the
-- reference only has to be unique. `source` is the event that brought the money: one request can bring money several times, by
-- its settlement and by each of its credit notes.

CREATE OR REPLACE FUNCTION collect_owed(account uuid, source uuid) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  free bigint; due record; part bigint; posting_id uuid; collected bigint := 0;
BEGIN
  SELECT least(a.owed, a.posted - a.held) INTO free FROM lock_accounts(ARRAY[account]) a;
  IF free IS NULL OR free <= 0 THEN RETURN 0; END IF;
  FOR due IN SELECT r.id, r.amount - r.collected AS rest FROM receivable r
             WHERE r.account_id = account AND r.collected < r.amount ORDER BY r.id FOR NO KEY UPDATE LOOP
    part := least(due.rest, free - collected);
    posting_id := new_uuidv7();
    INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason, reference)
    VALUES (account, posting_id, source, 'IDR/6', account, '00000000-0000-7000-8000-000000000008', part, 'receivable_collected',
            'receivable:' || due.id || ':' || posting_id);
    UPDATE receivable r SET collected = r.collected + part WHERE r.id = due.id;
    collected := collected + part;
    EXIT WHEN collected = free;
  END LOOP;
  UPDATE account a SET posted = a.posted - collected, owed = a.owed - collected WHERE a.id = account;
  RETURN collected;
END $$;
