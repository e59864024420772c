-- An id of a far future is refused for a hold, a bill and a posting. Rows from before are found by the audit.
ALTER TABLE hold ADD CONSTRAINT hold_id_has_begun CHECK (id_has_begun(id, placed_at)) NOT VALID;
ALTER TABLE posting ADD CONSTRAINT posting_id_has_begun CHECK (id_has_begun(id, posted_at)) NOT VALID;
ALTER TABLE usage_record ADD CONSTRAINT usage_record_id_has_begun CHECK (id_has_begun(request_id, settled_at)) NOT VALID;
