-- The cell that an account is in, where it is another one than this database. Such a row has no money: people, members and tokens refer
-- to it, and everything else of the account is in its cell. Null: the account is in this database.
ALTER TABLE account ADD COLUMN cell text;
-- Here no account has one yet, so the check holds for every row that is there.
ALTER TABLE account ADD CONSTRAINT account_elsewhere_empty
  CHECK (cell IS NULL OR (posted = 0 AND held = 0 AND owed = 0 AND open_holds = 0)) NOT VALID;
GRANT INSERT (cell) ON account TO saldo_serve;

-- Which cell of which deployment this database is. Null: the only one.
ALTER TABLE database_purpose ADD COLUMN deployment uuid;
ALTER TABLE database_purpose ADD COLUMN cell text;
