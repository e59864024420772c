-- The former table of postings makes way, with its keys, into a schema of its own.

LOCK TABLE posting IN ACCESS EXCLUSIVE MODE;
DROP VIEW ledger_entries;
CREATE SCHEMA former;
ALTER TABLE posting SET SCHEMA former;
