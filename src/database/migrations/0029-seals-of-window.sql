-- The seals of one window are read without those of all the others.
CREATE INDEX CONCURRENTLY account_seal_window ON account_seal (seal, account_id)
