-- The customer's account that each posting is about. A side that is a customer's account or a fund of a merchant names it. Between
-- accounts of ours the event does: the request of a loss, the top-up, the payout whose network fee it is, the transfer.

CREATE TEMPORARY TABLE posting_owner ON COMMIT DROP AS
SELECT p.id, p.debit, coalesce(
    debited.id, credited.id, debited_merchant.account_id, credited_merchant.account_id, used.account_id, t.account_id,
    merchant_of_payout.account_id, merchant_of_transfer.account_id) AS account_id
FROM former.posting p
LEFT JOIN account debited ON debited.id = p.debit
LEFT JOIN account credited ON credited.id = p.credit
LEFT JOIN merchant_fund debited_fund ON debited_fund.id = p.debit
LEFT JOIN merchant debited_merchant ON debited_merchant.id = debited_fund.merchant_id
LEFT JOIN merchant_fund credited_fund ON credited_fund.id = p.credit
LEFT JOIN merchant credited_merchant ON credited_merchant.id = credited_fund.merchant_id
LEFT JOIN usage_record used ON used.request_id = p.group_id AND p.debit = '00000000-0000-7000-8000-000000000002'
LEFT JOIN top_up t ON t.id = p.group_id
LEFT JOIN payout paid ON paid.id = p.group_id
LEFT JOIN transfer paid_transfer ON paid_transfer.id = paid.transfer_id
LEFT JOIN merchant merchant_of_payout ON merchant_of_payout.id = paid_transfer.merchant_id
LEFT JOIN transfer sent ON sent.id = p.group_id
LEFT JOIN merchant merchant_of_transfer ON merchant_of_transfer.id = sent.merchant_id;
