-- The account of a fund that code before 0003 opens. The next contracting change drops this function.

CREATE OR REPLACE FUNCTION fill_fund_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT m.account_id INTO NEW.account_id FROM merchant m WHERE m.id = NEW.merchant_id;
  RETURN NEW;
END $$;
