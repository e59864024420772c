-- Deliveries of alerts and their attempts can be deleted, by one function: ended ones, after the days of a setting. Every other change
-- stays refused, to each login. A process of before this change deletes none.

DROP TRIGGER append_only ON webhook_attempt;
CREATE TRIGGER keep BEFORE UPDATE OR DELETE ON webhook_attempt FOR EACH ROW EXECUTE FUNCTION keep_webhook();
CREATE TRIGGER keep BEFORE DELETE ON webhook_delivery FOR EACH ROW EXECUTE FUNCTION keep_webhook();
CREATE TRIGGER keep_all BEFORE TRUNCATE ON webhook_delivery FOR EACH STATEMENT EXECUTE FUNCTION keep_webhook();
ALTER TABLE webhook_attempt ENABLE ALWAYS TRIGGER keep;
ALTER TABLE webhook_delivery ENABLE ALWAYS TRIGGER keep, ENABLE ALWAYS TRIGGER keep_all;
