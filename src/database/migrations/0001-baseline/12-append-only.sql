-- Rows that are never changed or deleted once written. The triggers fire for replication roles too (ENABLE ALWAYS). The audit
-- looks for them. posting has its own beside its table.

DO $$
DECLARE
  written name;
BEGIN
  FOREACH written IN ARRAY ARRAY['usage_record', 'late_usage', 'catalog_version', 'catalog_change', 'payment_event', 'transfer_event',
                                 'callback_attempt', 'operator_action', 'operator_setting'] LOOP
    EXECUTE format('CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION refuse_change()', written);
    EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER append_only', written);
  END LOOP;
  -- Of these, some columns change; the serving role may write no other.
  FOREACH written IN ARRAY ARRAY['transfer', 'payout', 'payout_attempt', 'operator_order'] LOOP
    EXECUTE format('CREATE TRIGGER append_only BEFORE DELETE ON %I FOR EACH ROW EXECUTE FUNCTION refuse_change()', written);
    EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER append_only', written);
  END LOOP;
  -- TRUNCATE triggers are not cloned to partitions. The months get theirs from ensure_usage_partitions.
  FOREACH written IN ARRAY ARRAY['usage_record', 'usage_record_default', 'late_usage', 'catalog_version', 'catalog_change',
                                 'payment_event', 'transfer_event', 'callback_attempt', 'operator_action', 'operator_setting',
                                 'transfer', 'payout', 'payout_attempt', 'operator_order'] LOOP
    EXECUTE format('CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', written);
    EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER append_only_truncate', written);
  END LOOP;
END $$;
ALTER TABLE usage_record_default ENABLE ALWAYS TRIGGER append_only;

SELECT ensure_usage_partitions((now() - interval '1 month')::date, 14);
