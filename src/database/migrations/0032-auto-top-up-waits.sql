-- not_before: no charge is looked for before it, as after a refusal or at the monthly cap. method_due_at: since when the method that paid an
-- order is to be saved; null: there is none to save, or it was saved. The version before saves it with the credit.

ALTER TABLE auto_top_up ADD COLUMN not_before timestamptz;
ALTER TABLE top_up ADD COLUMN method_due_at timestamptz;
