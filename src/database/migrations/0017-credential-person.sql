-- Who made a merchant's pair. Null: a service, an operator, or code of before.

ALTER TABLE merchant_credential ADD COLUMN person_id uuid;
