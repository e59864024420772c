-- Lines of the security log are not changed, and those of the last days not deleted. A database of the former migrations gets this, too.

CREATE TRIGGER keep BEFORE UPDATE OR DELETE ON auth.security_event FOR EACH ROW EXECUTE FUNCTION keep_security_event();
CREATE TRIGGER keep_all BEFORE TRUNCATE ON auth.security_event FOR EACH STATEMENT EXECUTE FUNCTION keep_security_event();
ALTER TABLE auth.security_event ENABLE ALWAYS TRIGGER keep, ENABLE ALWAYS TRIGGER keep_all;
REVOKE DELETE ON auth.security_event FROM saldo_serve;
