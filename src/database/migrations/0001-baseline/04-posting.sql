-- Postings: `amount` of `asset`, in its smallest unit, moves from `debit` to `credit`. Nothing is ever changed once written. A
-- database of the former migrations is filled into this same table, see src/database/schema/adoption.

-- account_id: the customer's account that the posting is about, also where both sides are accounts of ours, as with a loss, or
-- where one is a fund of the account's merchant. group_id is shared by the postings of one event. reference is the event's own
-- name: the same event of an account is posted once.
CREATE TABLE posting (
  account_id uuid          NOT NULL,
  id         uuid          NOT NULL,
  group_id   uuid          NOT NULL,
  asset      text          NOT NULL,
  debit      uuid          NOT NULL,
  credit     uuid          NOT NULL,
  amount     numeric(38,0) NOT NULL CHECK (amount > 0),
  reason     text          NOT NULL,
  reference  text,
  note       text,
  posted_at  timestamptz   NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (account_id, id),
  CHECK (debit <> credit)
);
-- The reference comes first, so that an operator finds it without knowing the account.
CREATE UNIQUE INDEX posting_reference ON posting (reference, account_id) WHERE reference IS NOT NULL;
CREATE INDEX posting_id ON posting (id);
CREATE INDEX posting_group ON posting (group_id, id);
-- Postings of our own accounts, whose ids are below that of any customer's. A customer's are found by account_id. Losses, which
-- requests write, are found by their debit only: so each of them is in four indexes, and hardly any posting in more than five.
CREATE INDEX posting_debit ON posting (debit, id) WHERE debit < '00000000-0000-7000-8000-000000000100';
CREATE INDEX posting_credit ON posting (credit, id)
  WHERE credit < '00000000-0000-7000-8000-000000000100' AND debit <> '00000000-0000-7000-8000-000000000002';

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON posting FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON posting FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE posting ENABLE ALWAYS TRIGGER append_only, ENABLE ALWAYS TRIGGER append_only_truncate;

-- Every posting as its two lines.
CREATE VIEW ledger_entries AS
  SELECT debit AS account_id, id AS posting_id, group_id, asset, -amount AS amount, reason, posted_at FROM posting
  UNION ALL
  SELECT credit, id, group_id, asset, amount, reason, posted_at FROM posting
  UNION ALL
  SELECT account_id, request_id, request_id, 'IDR/6', -charge::numeric(38,0), 'usage', settled_time(request_id, settled_at)
  FROM usage_record WHERE charge > 0
  UNION ALL
  SELECT '00000000-0000-7000-8000-000000000001', request_id, request_id, 'IDR/6', charge::numeric(38,0), 'usage',
    settled_time(request_id, settled_at)
  FROM usage_record WHERE charge > 0;

GRANT SELECT, INSERT ON posting TO saldo_serve;
GRANT SELECT ON ledger_entries TO saldo_serve;
