// What a whole dump of a service's database has of its secrets, and which master key a start accepts.

import { mkdtemp, readFile, rename, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "pg";
import { afterAll, expect, it } from "vitest";
import { SECRET_COLUMNS } from "../../src/app/compose/secrets.ts";
import { clientConfig, withClient } from "../../src/database/connections.ts";
import { inviteOperator } from "../../src/identity/operator-invites.ts";
import { readFactor } from "../../src/identity/second-factor/second-factor-store.ts";
import { factorSteps } from "../identity/factor-steps.ts";
import { type ServedPeople, servePeople } from "../identity/served-people.ts";
import { saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { PRODUCTION, runSaldoProcess, SaldoProcess } from "../setup/saldo-process.ts";
import { newCustomer } from "./customer.ts";

let served: ServedPeople;
const folders: string[] = [];
afterAll(async () => {
  await served?.stop();
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
});
const steps = factorSteps(() => served);

/** Every row of every table, as texts. */
async function dump(owner: Client): Promise<string> {
  const { rows: tables } = await owner.query<{ name: string }>(
    `SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')`,
  );
  const texts: string[] = [];
  for (const { name } of tables) {
    const { rows } = await owner.query<{ text: string }>(`SELECT t::text AS text FROM ${name} t`);
    texts.push(...rows.map(({ text }) => `${name}: ${text}`));
  }
  return texts.join("\n");
}

/** How a secret may lie in a dump: as it is, or in another alphabet. */
const writings = (secret: string): string[] => {
  const bytes = Buffer.from(secret);
  return [secret, bytes.toString("hex"), bytes.toString("base64").replace(/=+$/, ""), bytes.toString("base64url")];
};

/** The bytes of an app's secret, which people see in base32. */
function fromBase32(text: string): string {
  const bits = Array.from(text, (sign) =>
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(sign).toString(2).padStart(5, "0"),
  );
  return Buffer.from((bits.join("").match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2))).toString();
}

it("a whole dump of the database has none of the secrets that were given out", async () => {
  served = await servePeople();
  const { settings, opened, saldo } = served;
  const { browser } = await steps.newOperator();
  const app = fromBase32(await steps.setUpApp(browser));
  const codes = (await browser.auth("/second-factor/recovery-codes", {})).json["codes"] as string[];
  const { key, accountId } = await newCustomer(settings);
  const merchant = await saldoJson(
    ["merchant", "create", "--account", accountId, "--environment", "sandbox"],
    settings,
  );
  const words = [
    "merchant",
    "callback",
    "--merchant",
    String(merchant["merchantId"]),
    "--url",
    "https://receiver.example/",
  ];
  const callback = await saldoJson(words, settings);
  const { token = "" } = await saldoJson(["service-token", "create", "--all", "--name", "t"], settings);
  const invite = new URL(await inviteOperator(opened.database.pool, saldo.httpUrl)).searchParams.get("token");
  const secrets: Record<string, unknown> = {
    app,
    key,
    pair: merchant["secretKey"],
    callback: callback["secret"],
    callbackToken: callback["token"],
    token,
    invite,
    session: decodeURIComponent(browser.cookie("saldo_session") ?? "").split(".")[0],
    ...Object.fromEntries(codes.map((code) => [code, code])),
    auth: PRODUCTION.SALDO_AUTH_SECRET,
    master: PRODUCTION.SALDO_SECRETS_KEY,
  };
  const text = await withClient(clientConfig({ connectionString: opened.url }, "dump"), dump);
  // It is a dump of what was just made.
  expect(text).toContain(accountId);
  expect(text).toMatch(/auth\.two_factor: .*sealed:1:/);
  for (const [name, secret] of Object.entries(secrets)) {
    expect([name, String(secret).length > 9 && secret !== undefined]).toEqual([name, true]);
    expect([name, writings(String(secret)).filter((writing) => text.includes(writing))]).toEqual([name, []]);
  }
  // No column with such a name is left out of what is encrypted, or it holds a digest.
  const { rows } = await opened.database.pool.query<{ place: string }>(
    `SELECT (CASE WHEN table_schema = 'public' THEN '' ELSE table_schema || '.' END) || table_name || '.' || column_name AS place
     FROM information_schema.columns
     WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND data_type = 'text'
       AND column_name ~ '(secret|token|credentials|password|private)$'`,
  );
  const encrypted = SECRET_COLUMNS.flatMap(({ table, columns }) => columns.map((column) => `${table}.${column}`));
  const others = rows.map(({ place }) => place).filter((place) => !encrypted.includes(place));
  expect(others.toSorted()).toEqual([
    // OAuth, which there is none of; a password is an argon2id hash; the page of a payment with play money.
    "auth.credential.access_token",
    "auth.credential.id_token",
    "auth.credential.password",
    "auth.credential.refresh_token",
    "sandbox_payment.token",
  ]);
  const { rows: oauth } = await opened.database.pool.query(
    "SELECT FROM auth.credential WHERE num_nonnulls(access_token, refresh_token, id_token) > 0",
  );
  expect(oauth).toEqual([]);
});

it("an app's secret is nothing to another person", async () => {
  const { pool } = served.opened.database;
  const [one, other] = [await steps.newOperator(), await steps.newOperator()];
  for (const { browser } of [one, other]) await browser.auth("/second-factor/set-up-app", {});
  const { rows } = await pool.query<{ id: string }>(
    `UPDATE auth.two_factor f SET secret = o.secret FROM auth.two_factor o, auth.person p, auth.person q
     WHERE f.user_id = p.id AND o.user_id = q.id AND p.email = $1 AND q.email = $2 RETURNING p.id`,
    [other.email, one.email],
  );
  await expect(readFactor(pool, rows[0]?.id ?? "")).rejects.toThrow("belongs to another row");
  const tried = await other.browser.auth("/two-factor/verify-totp", { code: "123456" });
  expect(tried.status).toBe(500);
});

it("a start with another master key, or with none, is refused and says what to do", async () => {
  const { settings } = served;
  await served.saldo.stop();
  const wrong = "the key of somebody else that is long enough";
  await expect(SaldoHere.start({ ...settings, SALDO_SECRETS_KEY: wrong })).rejects.toThrow(
    /SALDO_SECRETS_KEY is not the key .* \(key [0-9a-f]{8}\)\. Start with the former key/,
  );
  const none = { ...settings, NODE_ENV: "test", SALDO_SECRETS_KEY: "" };
  await expect(SaldoHere.start(none)).rejects.toThrow(/SALDO_SECRETS_KEY is not set, and the secrets .* are encrypted/);
  const both = await SaldoHere.start({ ...settings, SALDO_SECRETS_KEY: `${wrong},${PRODUCTION.SALDO_SECRETS_KEY}` });
  await both.stop();
});

it("a start with the embedded database makes a key of its own, and one without that key is refused", async () => {
  const folder = await mkdtemp(join(tmpdir(), "saldo-own-key-"));
  folders.push(folder);
  const settings = { SALDO_DATA_DIR: folder };
  const file = join(folder, "secrets-key");
  const first = await SaldoProcess.start(settings);
  const key = first.announced(/gw_[A-Za-z0-9]{49}/);
  await first.stop();
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const made = await readFile(file, "utf8");
  expect(made.trim()).toMatch(/^[A-Za-z0-9+/]{64}$/);
  const second = await SaldoProcess.start(settings);
  expect(second.announced(/gw_[A-Za-z0-9]{49}/)).toBe(key);
  await second.stop();
  expect(await readFile(file, "utf8")).toBe(made);
  await rename(file, `${file}.away`);
  const refused = await runSaldoProcess(["serve"], settings);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("is in the file secrets-key")]);
  await expect(stat(file)).rejects.toThrow("ENOENT");
});
