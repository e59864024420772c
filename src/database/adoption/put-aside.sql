-- The former table of postings makes way, with the names of its keys.

LOCK TABLE posting IN ACCESS EXCLUSIVE MODE;
DROP VIEW ledger_entries;
ALTER TABLE posting RENAME TO former_posting;
ALTER TABLE former_posting DROP CONSTRAINT posting_pkey, DROP CONSTRAINT posting_reference_key;
DROP INDEX posting_id, posting_group, posting_credit;
