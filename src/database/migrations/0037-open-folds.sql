-- The incremental audit looks at what has changed: ledger/audit/README.md.

-- The number of the run since which an account's rows are not all folded, or which found something in them. Null: nothing is left to do.
ALTER TABLE audit_checkpoint ADD COLUMN open_since bigint DEFAULT 0;

-- The moment of the last run (ledger/changed-accounts.ts). Null: not known, so the next run looks at every account.
ALTER TABLE audit_run ADD COLUMN trace text;

-- A merchant's fund: the sum of its postings up to an id.
CREATE TABLE fund_checkpoint (
  fund_id        uuid          NOT NULL PRIMARY KEY,
  posted         numeric(38,0) NOT NULL,
  folded_through uuid          NOT NULL
) WITH (fillfactor = 70);
GRANT SELECT, INSERT, UPDATE ON fund_checkpoint TO saldo_serve;
