-- The account of a fund that was opened by code of before 0003. Goes with the next contracting change.

CREATE OR REPLACE FUNCTION fill_fund_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT m.account_id INTO NEW.account_id FROM merchant m WHERE m.id = NEW.merchant_id;
  RETURN NEW;
END $$;
