import { Migration } from "@mikro-orm/migrations";

// A second factor of people, and what each session has proved. New columns have constant defaults, so no table is rewritten.
export class Migration0031SecondFactor extends Migration {
  override up(): void {
    // Whether the person has an authenticator app or a passkey: what a sign-in by password has to ask for.
    this.addSql(`ALTER TABLE auth.person ADD COLUMN two_factor_enabled boolean NOT NULL DEFAULT false`);
    // proved_at: the last proof, null where there was none (a link in a mail). factor_proved: one of the proofs was a second
    // factor. by_demo: a demo's one click, which counts in a demo only. seen_at: the last call, within a minute or so.
    this.addSql(`
      ALTER TABLE auth.session
        ADD COLUMN proved_at timestamptz, ADD COLUMN factor_proved boolean NOT NULL DEFAULT false,
        ADD COLUMN by_demo boolean NOT NULL DEFAULT false, ADD COLUMN seen_at timestamptz`);
    // secret and backup_codes are encrypted with the signing secret. Not verified: no code of the app was shown yet; the row may
    // also hold the recovery codes of somebody who has passkeys only.
    this.addSql(`
      CREATE TABLE auth.two_factor (
        id           uuid        NOT NULL PRIMARY KEY,
        user_id      uuid        NOT NULL UNIQUE REFERENCES auth.person (id) ON DELETE CASCADE,
        secret       text        NOT NULL,
        backup_codes text        NOT NULL,
        verified     boolean     NOT NULL DEFAULT false,
        created_at   timestamptz NOT NULL DEFAULT clock_timestamp()
      )`);
    this.addSql(`
      CREATE TABLE auth.passkey (
        id            uuid             NOT NULL PRIMARY KEY,
        user_id       uuid             NOT NULL REFERENCES auth.person (id) ON DELETE CASCADE,
        name          text,
        public_key    text             NOT NULL,
        credential_id text             NOT NULL UNIQUE,
        counter       double precision NOT NULL,
        device_type   text             NOT NULL,
        backed_up     boolean          NOT NULL,
        transports    text,
        aaguid        text,
        created_at    timestamptz      NOT NULL DEFAULT clock_timestamp()
      )`);
    this.addSql(`CREATE INDEX passkey_user ON auth.passkey (user_id)`);
    this.addSql(`GRANT SELECT, INSERT, UPDATE, DELETE ON auth.two_factor, auth.passkey TO saldo_serve`);
  }
}
