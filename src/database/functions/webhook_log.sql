-- The log of what was posted to accounts' webhooks. Deliveries and their attempts are deleted through one function, and only ended ones.
-- No login can delete others, or change an attempt.

-- Whether the log of an alert is over: its delivery has ended, and could not be tried in the last days. The database itself keeps ninety days.
-- Not of the language sql, whose functions are refused before the table is there, as on a database of Saldo 0.1.
CREATE OR REPLACE FUNCTION webhook_is_over(asked_event uuid, days int) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = pg_catalog AS $$
BEGIN
  RETURN EXISTS (SELECT FROM public.webhook_delivery d
                 WHERE d.event_id = asked_event AND d.state <> 'pending'
                   AND d.give_up_at < clock_timestamp() - greatest(days, 90) * interval '1 day');
END $$;

CREATE OR REPLACE FUNCTION keep_webhook() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  IF TG_OP = 'DELETE' AND TG_LEVEL = 'ROW' THEN
    IF public.webhook_is_over(OLD.event_id, 90) THEN
      RETURN OLD;
    END IF;
  END IF;
  RAISE EXCEPTION 'the log of webhooks keeps its rows' USING ERRCODE = 'restrict_violation';
END $$;

-- Deletes the oldest deliveries that are over, so many at most, with their attempts. Their rows are locked first, so none becomes
-- open in between; one that another process has locked is left. The serving role's worker calls it.
CREATE OR REPLACE FUNCTION forget_webhooks(days int, most int) RETURNS int
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  forgotten uuid[];
BEGIN
  forgotten := ARRAY(
    SELECT d.event_id FROM public.webhook_delivery d
    WHERE d.event_id < public.uuid_floor(clock_timestamp() - greatest(days, 90) * interval '1 day')
      AND d.state <> 'pending' AND public.webhook_is_over(d.event_id, days)
    ORDER BY d.event_id LIMIT most FOR UPDATE SKIP LOCKED);
  DELETE FROM public.webhook_attempt WHERE event_id = ANY (forgotten);
  DELETE FROM public.webhook_delivery WHERE event_id = ANY (forgotten);
  RETURN cardinality(forgotten);
END $$;
REVOKE ALL ON FUNCTION forget_webhooks FROM public;
GRANT EXECUTE ON FUNCTION forget_webhooks TO saldo_serve;
