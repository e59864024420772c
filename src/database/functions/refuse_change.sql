-- Triggers that prevent changes of written rows.

-- For append-only tables.
CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

-- For payout_attempt: only the chain's results of a signed transaction may change.
CREATE OR REPLACE FUNCTION refuse_other_bytes() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF (OLD.payout_id, OLD.number, OLD.kind, OLD.raw, OLD.hash, OLD.fee_most, OLD.fee_priority, OLD.signed_at)
     IS DISTINCT FROM
     (NEW.payout_id, NEW.number, NEW.kind, NEW.raw, NEW.hash, NEW.fee_most, NEW.fee_priority, NEW.signed_at) THEN
    RAISE EXCEPTION 'what was signed is never changed' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;

-- For operator_order.
CREATE OR REPLACE FUNCTION refuse_other_order() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF OLD.state <> 'pending'
     OR (OLD.id, OLD.kind, OLD.reference, OLD.subject, OLD.facts, OLD.payload, OLD.reason, OLD.ordered_by, OLD.ordered_at, OLD.expires_at)
        IS DISTINCT FROM
        (NEW.id, NEW.kind, NEW.reference, NEW.subject, NEW.facts, NEW.payload, NEW.reason, NEW.ordered_by, NEW.ordered_at, NEW.expires_at) THEN
    RAISE EXCEPTION 'an order is decided once and otherwise never changed' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
