ALTER TABLE account VALIDATE CONSTRAINT account_elsewhere_empty;
