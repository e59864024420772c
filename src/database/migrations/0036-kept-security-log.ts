import { Migration } from "@mikro-orm/migrations";

// Lines of the security log are never changed, and none of the last seven days is deleted, whoever asks: not by the serving role, and
// not by the owner, whose login an embedded database serves with. Older ones are forgotten through one function.
export class Migration0036KeptSecurityLog extends Migration {
  override up(): void {
    this.addSql(`
      CREATE FUNCTION auth.oldest_kept_security_event(days int) RETURNS uuid
      LANGUAGE sql STABLE SET search_path = pg_catalog AS $$
        SELECT (lpad(to_hex(floor(extract(epoch FROM clock_timestamp() - greatest(days, 7) * interval '1 day') * 1000)::bigint), 12, '0')
          || '70008000000000000000')::uuid
      $$`);
    this.addSql(`
      CREATE FUNCTION auth.keep_security_event() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
      BEGIN
        IF TG_OP = 'DELETE' AND TG_LEVEL = 'ROW' THEN
          IF OLD.id < auth.oldest_kept_security_event(7) THEN
            RETURN OLD;
          END IF;
        END IF;
        RAISE EXCEPTION 'the security log keeps its lines' USING ERRCODE = 'restrict_violation';
      END $$`);
    this.addSql(`
      CREATE TRIGGER keep BEFORE UPDATE OR DELETE ON auth.security_event
      FOR EACH ROW EXECUTE FUNCTION auth.keep_security_event()`);
    this.addSql(`
      CREATE TRIGGER keep_all BEFORE TRUNCATE ON auth.security_event
      FOR EACH STATEMENT EXECUTE FUNCTION auth.keep_security_event()`);
    this.addSql(`ALTER TABLE auth.security_event ENABLE ALWAYS TRIGGER keep`);
    this.addSql(`ALTER TABLE auth.security_event ENABLE ALWAYS TRIGGER keep_all`);
    this.addSql(`REVOKE DELETE ON auth.security_event FROM saldo_serve`);
    this.addSql(`
      CREATE FUNCTION auth.forget_security_events(days int, most int) RETURNS bigint
      LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog AS $$
        WITH forgotten AS (
          DELETE FROM auth.security_event WHERE id IN (
            SELECT id FROM auth.security_event WHERE id < auth.oldest_kept_security_event(days) ORDER BY id LIMIT most
          ) RETURNING 1
        )
        SELECT count(*) FROM forgotten
      $$`);
    this.addSql(`REVOKE ALL ON FUNCTION auth.forget_security_events(int, int) FROM PUBLIC`);
    this.addSql(`GRANT EXECUTE ON FUNCTION auth.forget_security_events(int, int) TO saldo_serve`);
  }
}
