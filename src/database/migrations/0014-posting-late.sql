-- Postings that were committed more than a minute after the time of their id, as usage_record_late. Seals find them by it.
CREATE INDEX CONCURRENTLY posting_late ON posting (account_id, posted_at) WHERE settled_late(id, posted_at)
