-- Lines of the security log are never changed, and none of the last seven days is deleted, by whichever login: not by the serving role,
-- and not by the owner, whose login an embedded database serves with. Older ones are forgotten through one function. A process of
-- before this change forgets none until it is replaced.

CREATE TRIGGER keep BEFORE UPDATE OR DELETE ON auth.security_event
  FOR EACH ROW EXECUTE FUNCTION auth.keep_security_event();
CREATE TRIGGER keep_all BEFORE TRUNCATE ON auth.security_event
  FOR EACH STATEMENT EXECUTE FUNCTION auth.keep_security_event();
ALTER TABLE auth.security_event ENABLE ALWAYS TRIGGER keep, ENABLE ALWAYS TRIGGER keep_all;
REVOKE DELETE ON auth.security_event FROM saldo_serve;
