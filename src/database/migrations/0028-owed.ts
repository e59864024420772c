import { Migration } from "@mikro-orm/migrations";

// Accounts that owe something can be found without reading all, a debt can be collected more than once for one event, and payments
// are watched for late chargebacks.
export class Migration0028Owed extends Migration {
  override up(): void {
    // Neither posted nor held may be part of it: every request changes them, and PostgreSQL then updates the row in place only
    // while no index names a changed column.
    this.addSql(`CREATE INDEX account_owed ON account (id) WHERE owed > 0`);
    this.addSql(COLLECT_OWED);
    // Payments are now asked about for 180 days; until now it was 30, and those that are older wait for no look any more.
    this.addSql(`
      UPDATE top_up SET next_check_at = clock_timestamp() + random() * interval '1 day'
      WHERE next_check_at IS NULL AND state IN ('paid', 'partially_refunded', 'charged_back')
        AND changed_at > clock_timestamp() - interval '180 days'`);
  }
}

// Takes what an account owes from what it has and does not hold, the oldest receivable first. The lock order is account, then
// receivables; every caller has locked the account already. What is collected is no longer owed, so a repeated call collects
// nothing; the reference only has to be unique. `source` is the event that brought the money: one request can bring some several
// times, by its settlement and by each of its credit notes.
const COLLECT_OWED = `
CREATE OR REPLACE FUNCTION collect_owed(account uuid, source uuid) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  free bigint; due record; part bigint; posting_id uuid; collected bigint := 0;
BEGIN
  SELECT least(a.owed, a.posted - a.held) INTO free FROM account a WHERE a.id = account FOR NO KEY UPDATE;
  IF free IS NULL OR free <= 0 THEN RETURN 0; END IF;
  FOR due IN SELECT r.id, r.amount - r.collected AS rest FROM receivable r
             WHERE r.account_id = account AND r.collected < r.amount ORDER BY r.id FOR NO KEY UPDATE LOOP
    part := least(due.rest, free - collected);
    posting_id := new_uuidv7();
    INSERT INTO posting (id, group_id, asset, debit, credit, amount, reason, reference)
    VALUES (posting_id, source, 'IDR/6', account, '00000000-0000-7000-8000-000000000008', part, 'receivable_collected',
            'receivable:' || due.id || ':' || posting_id);
    UPDATE receivable r SET collected = r.collected + part WHERE r.id = due.id;
    collected := collected + part;
    EXIT WHEN collected = free;
  END LOOP;
  UPDATE account a SET posted = a.posted - collected, owed = a.owed - collected WHERE a.id = account;
  RETURN collected;
END $$`;
