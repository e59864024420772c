-- Postings between our own accounts that were committed more than a minute after the time of their id: the house's seal finds them by it.
CREATE INDEX CONCURRENTLY posting_house_late ON posting (posted_at) WHERE settled_late(id, posted_at) AND account_id <> debit AND account_id <> credit
