import { Migration } from "@mikro-orm/migrations";
import { callerWindowFunctions } from "./caller-window-functions.ts";

// Limits for every kind of caller, scopes and expiry of service tokens, and the security log.
export class Migration0030Limits extends Migration {
  override up(): void {
    // The rate windows of people, merchant pairs and service tokens, as those of keys are kept on `api_key`. A window is worth a
    // minute, so the table is unlogged: a slot costs no wait for the disk or a standby, and a crash of the server empties it.
    this.addSql(`
      CREATE UNLOGGED TABLE caller_window (
        caller      uuid          NOT NULL PRIMARY KEY,
        slots       timestamptz[] NOT NULL DEFAULT '{}',
        slot_counts int[]         NOT NULL DEFAULT '{}'
      ) WITH (fillfactor = 50)`);
    this.addSql(`GRANT SELECT, INSERT, UPDATE, DELETE ON caller_window TO saldo_serve`);

    // Tokens of before keep what they could do, except that a token of all accounts orders no transfers any more. Half a year
    // is time enough to replace them.
    this.addSql(`
      ALTER TABLE service_token
        ADD COLUMN expires_at timestamptz NOT NULL DEFAULT clock_timestamp() + interval '180 days',
        ADD COLUMN last_used_at timestamptz,
        ADD COLUMN scopes text[] NOT NULL DEFAULT '{read,keys,top_ups,settings,merchants}'`);
    this.addSql(`UPDATE service_token SET scopes = scopes || '{transfers}' WHERE account_id IS NOT NULL`);
    // A token that a process of the version before makes while both run lives as long, and has no scope that moves money.
    this.addSql(`ALTER TABLE service_token ALTER COLUMN expires_at SET DEFAULT clock_timestamp() + interval '90 days'`);
    this.addSql(`ALTER TABLE service_token ALTER COLUMN scopes SET DEFAULT '{read}'`);
    this.addSql(`GRANT UPDATE (last_used_at) ON service_token TO saldo_serve`);

    for (const made of callerWindowFunctions) this.addSql(made);

    // People who sign up and never verify their address are removed after some days.
    this.addSql(`CREATE INDEX person_unverified ON auth.person (updated_at) WHERE NOT email_verified`);
    this.addSql(`GRANT DELETE ON auth.person TO saldo_serve`);

    // Who tried what from where. E-mail addresses are keyed hashes.
    this.addSql(`
      CREATE TABLE auth.security_event (
        id         uuid        NOT NULL PRIMARY KEY,
        kind       text        NOT NULL,
        outcome    text        NOT NULL CHECK (outcome IN ('succeeded', 'refused')),
        person_id  uuid,
        email_hash text,
        network    text        NOT NULL DEFAULT '',
        subject    text        NOT NULL DEFAULT '',
        detail     text        NOT NULL DEFAULT '',
        times      int         NOT NULL DEFAULT 1 CHECK (times > 0),
        written_at timestamptz NOT NULL DEFAULT clock_timestamp()
      )`);
    this.addSql(
      `CREATE INDEX security_event_person ON auth.security_event (person_id, id) WHERE person_id IS NOT NULL`,
    );
    this.addSql(
      `CREATE INDEX security_event_email ON auth.security_event (email_hash, id) WHERE email_hash IS NOT NULL`,
    );
    this.addSql(`GRANT SELECT, INSERT, DELETE ON auth.security_event TO saldo_serve`);
  }
}
