-- A start looks whether accounts are in cells that its settings do not name.
CREATE INDEX CONCURRENTLY account_elsewhere ON account (cell) WHERE cell IS NOT NULL
