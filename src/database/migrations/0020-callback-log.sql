-- Deliveries of callbacks and their attempts can be deleted, by one function: of transfers that have ended, and after the days of a
-- setting. Every other change stays refused, to each login. A process of before this change deletes none.

DROP TRIGGER append_only ON callback_attempt;
CREATE TRIGGER keep BEFORE UPDATE OR DELETE ON callback_attempt FOR EACH ROW EXECUTE FUNCTION keep_callback();
CREATE TRIGGER keep BEFORE DELETE ON callback_delivery FOR EACH ROW EXECUTE FUNCTION keep_callback();
CREATE TRIGGER keep_all BEFORE TRUNCATE ON callback_delivery FOR EACH STATEMENT EXECUTE FUNCTION keep_callback();
ALTER TABLE callback_attempt ENABLE ALWAYS TRIGGER keep;
ALTER TABLE callback_delivery ENABLE ALWAYS TRIGGER keep, ENABLE ALWAYS TRIGGER keep_all;
