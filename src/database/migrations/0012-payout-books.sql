-- Which books of a server a wallet has paid in and a journal was compared with: the database's and the wallet table's own numbers, which
-- change where pg_restore makes them again on the same server. Null: written before they were kept.

ALTER TABLE wallet ADD COLUMN books text,
  -- The stop that began at this moment ends by itself when every journal has been compared.
  ADD COLUMN awaits_journals_at timestamptz;

-- owner: a name that is in the journal's folder as well, and is changed again and again: a copy of the folder falls behind.
ALTER TABLE payout_journal ADD COLUMN books text, ADD COLUMN owner uuid, ADD COLUMN owned_at timestamptz;

GRANT UPDATE (first_nonce, books, awaits_journals_at) ON wallet TO saldo_serve;
