// All slots that were ever taken, by a trigger of the test: more than N within 60 seconds of each other is a violation.
/** Makes the log. */
export const LOG_SLOTS = `
CREATE TABLE slot_log (key_id uuid NOT NULL, at timestamptz NOT NULL);
GRANT INSERT ON slot_log TO saldo_serve, saldo_ledger, saldo_request;
CREATE FUNCTION log_slots() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO slot_log SELECT NEW.id, at FROM unnest(NEW.slots) AS s(at) EXCEPT ALL SELECT NEW.id, at FROM unnest(OLD.slots) AS s(at);
  RETURN NEW; END $$;
CREATE TRIGGER log_slots AFTER UPDATE OF slots ON api_key FOR EACH ROW EXECUTE FUNCTION log_slots()`;

/** Times at which a key's window had more requests than its limit. */
export const OVERFULL_WINDOWS = `
SELECT l.key_id, l.at FROM slot_log l JOIN api_key k ON k.id = l.key_id
WHERE k.rate_limit < (SELECT count(*) FROM slot_log o WHERE o.key_id = l.key_id AND o.at > l.at - interval '60 s' AND o.at <= l.at)`;
