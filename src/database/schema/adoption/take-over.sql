-- Each posting as it was, under its owner. (debit, id) was its key.

INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason, reference, note, posted_at)
SELECT o.account_id, p.id, p.group_id, p.asset, p.debit, p.credit, p.amount, p.reason, p.reference, p.note, p.posted_at
FROM former.posting p JOIN posting_owner o ON o.debit = p.debit AND o.id = p.id
ORDER BY o.account_id, p.id;
