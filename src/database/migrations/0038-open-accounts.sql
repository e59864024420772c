-- The accounts that the next run looks at, beside those that changed.
CREATE INDEX CONCURRENTLY audit_checkpoint_open ON audit_checkpoint (account_id) WHERE open_since IS NOT NULL
