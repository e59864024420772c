-- The log of callbacks. Deliveries and their attempts are deleted for whole transfers, through one function, and only of transfers
-- that have ended. No login can delete others, or change an attempt.

-- Whether the log of a transfer is over: the transfer has ended, no delivery of it is open, and none could be tried in the last days.
-- The database itself keeps ninety days.
CREATE OR REPLACE FUNCTION callbacks_are_over(asked_transfer uuid, days int) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog AS $$
  SELECT EXISTS (SELECT FROM public.transfer t
                 WHERE t.id = asked_transfer AND t.status IN ('CONFIRMED', 'REJECTED', 'CANCELED'))
    AND NOT EXISTS (SELECT FROM public.callback_delivery d
                    WHERE d.transfer_id = asked_transfer
                      AND (d.state = 'pending' OR d.give_up_at >= clock_timestamp() - greatest(days, 90) * interval '1 day'))
$$;

CREATE OR REPLACE FUNCTION keep_callback() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
  of_transfer uuid;
BEGIN
  IF TG_OP = 'DELETE' AND TG_LEVEL = 'ROW' THEN
    SELECT d.transfer_id INTO of_transfer FROM public.callback_delivery d WHERE d.event_id = OLD.event_id;
    IF public.callbacks_are_over(of_transfer, 90) THEN
      RETURN OLD;
    END IF;
  END IF;
  RAISE EXCEPTION 'the log of callbacks keeps its rows' USING ERRCODE = 'restrict_violation';
END $$;

-- Deletes the oldest deliveries that are over, so many at most, with their attempts. Their rows are locked first, so none becomes
-- open in between; one that another process has locked is left. The serving role's worker calls it.
CREATE OR REPLACE FUNCTION forget_callbacks(days int, most int) RETURNS int
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  forgotten uuid[];
BEGIN
  forgotten := ARRAY(
    SELECT d.event_id FROM public.callback_delivery d
    WHERE d.event_id < public.uuid_floor(clock_timestamp() - greatest(days, 90) * interval '1 day')
      -- First, without the function, which looks at all deliveries of a transfer: those that were still tried lately.
      AND d.state <> 'pending' AND d.give_up_at < clock_timestamp() - greatest(days, 90) * interval '1 day'
      AND public.callbacks_are_over(d.transfer_id, days)
    ORDER BY d.event_id LIMIT most FOR UPDATE SKIP LOCKED);
  DELETE FROM public.callback_attempt WHERE event_id = ANY (forgotten);
  DELETE FROM public.callback_delivery WHERE event_id = ANY (forgotten);
  RETURN cardinality(forgotten);
END $$;
REVOKE ALL ON FUNCTION forget_callbacks FROM public;
GRANT EXECUTE ON FUNCTION forget_callbacks TO saldo_serve;
