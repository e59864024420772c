-- The serving role opens accounts and funds without a balance, and does not choose when a line of the operators' log, a setting or a row of
-- the fee schedule was written: the audit compares by these times. No version has ever written the columns that are left out here.

REVOKE INSERT ON account, merchant_fund, operator_action, operator_setting, fee_schedule FROM saldo_serve;
GRANT INSERT (id) ON account TO saldo_serve;
GRANT INSERT (merchant_id, account_id, asset, id) ON merchant_fund TO saldo_serve;
GRANT INSERT (id, operator, action, subject, reason, facts) ON operator_action TO saldo_serve;
GRANT INSERT (name, version, value) ON operator_setting TO saldo_serve;
GRANT INSERT (id, merchant_id, currency_code, version, flat, rate, min, max) ON fee_schedule TO saldo_serve;
REVOKE UPDATE ON merchant_fund FROM saldo_serve;
GRANT UPDATE (posted, held) ON merchant_fund TO saldo_serve;
