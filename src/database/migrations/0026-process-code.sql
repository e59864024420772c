-- The newest change that the code of a process knows; null: code of before this change. What an operator turns on may end the time in
-- which older code runs (functions/oldest_code.sql): the trigger then refuses a process of older code that has begun to start.

ALTER TABLE process ADD COLUMN schema_code int;
CREATE TRIGGER check_code BEFORE INSERT ON process FOR EACH ROW EXECUTE FUNCTION check_process_code();
