-- How secrets are stored, and a text under their master key by which a start notices a wrong one. A database that was never served stores
-- envelopes from the first; another one goes on as it did until `saldo secrets rotate`, so that the version before reads what is written.

CREATE TABLE secret_state (
  the_row   boolean NOT NULL PRIMARY KEY DEFAULT true CHECK (the_row),
  form      text    NOT NULL CHECK (form IN ('envelope', 'former')),
  key_check text
);
INSERT INTO secret_state (form)
SELECT CASE WHEN EXISTS (SELECT FROM database_purpose) THEN 'former' ELSE 'envelope' END;
GRANT SELECT, UPDATE ON secret_state TO saldo_serve;
-- Play money's secret is encrypted like any other.
GRANT UPDATE (webhook_secret) ON sandbox_provider TO saldo_serve;
