CREATE UNIQUE INDEX CONCURRENTLY top_up_one_automatic_open ON top_up (account_id)
WHERE method_id IS NOT NULL AND state IN ('created', 'pending')
