-- A merchant's fund names the account that it belongs to, so that the ledger needs no table of merchants. Code of before this
-- change opens funds without it: the trigger fills it in.

ALTER TABLE merchant_fund ADD COLUMN account_id uuid REFERENCES account (id);
CREATE TRIGGER fill_account BEFORE INSERT ON merchant_fund FOR EACH ROW WHEN (NEW.account_id IS NULL)
  EXECUTE FUNCTION fill_fund_account();
UPDATE merchant_fund f SET account_id = m.account_id FROM merchant m WHERE m.id = f.merchant_id;
ALTER TABLE merchant_fund ALTER COLUMN account_id SET NOT NULL;
