-- Open invitations by the address they are to: a person's first page lists them.
CREATE INDEX CONCURRENTLY account_invite_received ON account_invite (email, id) WHERE accepted_at IS NULL AND revoked_at IS NULL
