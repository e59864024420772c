-- What a receipt or a credit note is still to be written for: a queue that stays small.
CREATE INDEX CONCURRENTLY top_up_unreceipted ON top_up (id)
  WHERE paid_at IS NOT NULL AND (receipted_at IS NULL OR coalesce(noted_back, 0) < given_back + coalesce(tax_given_back, 0));
