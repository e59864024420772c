// Secrets in the database: in envelopes under a master key of the environment, which can be changed while the service runs. A
// database that the version before has served keeps that version's form until the command changes it.

import { afterAll, beforeAll, expect, it } from "vitest";
import { prepareSecrets, SECRET_COLUMNS, useKeysOf } from "../../src/app/compose/secrets.ts";
import { rotateSecrets } from "../../src/database/secrets/rotate-secrets.ts";
import { signingSecret } from "../../src/identity/signing-secret.ts";
import { openText, sealedPrefix, sealText, useSecretsKeys } from "../../src/kernel/sealed-text.ts";
import { updateCallbackSettings } from "../../src/merchant/callbacks/callback-settings.ts";
import { MERCHANT_CALLBACKS } from "../../src/merchant/callbacks/store.ts";
import { createMerchant } from "../../src/merchant/merchants/merchants.ts";
import { runSaldo, saldoJson } from "../setup/saldo-command.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { newCustomer } from "./customer.ts";

const [FORMER, NEWER] = ["former ".repeat(6).trim(), "newer ".repeat(6).trim()];
const BOTH = `${NEWER},${FORMER}`;
const URL = "https://receiver.example/";

let own: TestDatabase;
let settings: Record<string, string>;
let merchants: string[];
beforeAll(async () => {
  own = await createTestDatabase();
  settings = { DATABASE_URL: own.url };
  const { accountId } = await newCustomer(settings);
  const make = () => createMerchant(own.database, { accountId, environment: "sandbox" });
  merchants = [];
  for (let made = 0; made < 5; made += 1) merchants.push((await make()).merchantId);
});
afterAll(async () => {
  useSecretsKeys([]);
  await own.drop();
});

const useKeys = (keys: string): void => useSecretsKeys(keys === "" ? [] : keys.split(","));
/** Sets the callback of a merchant as a process with these keys does. */
const setCallback = (keys: string, merchantId = merchants[0] ?? "", renewSecret = false) => {
  useKeys(keys);
  const change = { merchantId, url: URL, token: "", renewSecret };
  return updateCallbackSettings({ database: own.database, allowLoopback: false }, change);
};
/** The secret that signs callbacks, as a process with these keys reads it. */
const secretOf = async (keys: string, merchantId = merchants[0] ?? ""): Promise<string | undefined> => {
  useKeys(keys);
  return (await MERCHANT_CALLBACKS.settings.read(own.database.pool, merchantId))?.secret;
};
/** The rows of the database, as a reader of a backup sees them. */
const stored = async (): Promise<string[]> => {
  const { rows } = await own.database.pool.query<{ text: string }>(
    `SELECT token AS text FROM callback_settings UNION ALL SELECT secret FROM callback_settings
     UNION ALL SELECT secret FROM auth.signing_secret`,
  );
  return rows.map(({ text }) => text);
};
/** What a start with these keys logs: the event, with its places where it has some. */
const startWith = async (keys: string): Promise<unknown[]> => {
  const logged: unknown[] = [];
  const log = ({ event, ...facts }: { event: string }): void =>
    void logged.push(Object.keys(facts).length === 0 ? event : { event, ...facts });
  const config = { secretsKeys: keys.split(","), databaseUrl: own.url, dataDir: "", production: true };
  await useKeysOf(config);
  await prepareSecrets(own.database, config, { warn: log, error: log });
  return logged;
};
const setState = (form: string) =>
  own.database.pool.query(`UPDATE secret_state SET form = $1, key_check = NULL`, [form]);
const rotate = (keys: string, ...words: string[]) =>
  saldoJson(["secrets", "rotate", ...words], { ...settings, SALDO_SECRETS_KEY: keys });
/** Whether all is stored in a form under a key, as a process that has only that key sees it. */
const isAll = async (form: "envelope" | "former", key: string): Promise<boolean> => {
  useKeys(key);
  return (await stored()).every((text) => text.startsWith(sealedPrefix(form) ?? "no key"));
};

it("a database that was served before keeps the former form until the command, which the version before reads", async () => {
  await setState("former");
  const made = await setCallback("");
  const signing = await signingSecret(own.database.pool, []);
  const secrets = [made.token, made.secret, signing];
  expect(await stored()).toEqual(secrets);
  // A key alone changes what is written from then on, in the form of the version before.
  const renewed = await setCallback(FORMER, merchants[0], true);
  secrets[1] = renewed.secret;
  expect((await stored()).filter((text) => text.startsWith(sealedPrefix("former") ?? ""))).toHaveLength(2);

  const done = await rotate(FORMER);
  expect(done).toMatchObject({ form: "envelope", rewrapped: 0, unreadable: [], left: 0 });
  expect(await isAll("envelope", FORMER)).toBe(true);
  for (const secret of secrets) expect((await stored()).join()).not.toContain(secret);
  useKeys(FORMER);
  expect([await secretOf(FORMER), await signingSecret(own.database.pool, [])]).toEqual([secrets[1], signing]);
  // From here on it is what every process writes.
  await setCallback(FORMER, merchants[1]);
  expect(await isAll("envelope", FORMER)).toBe(true);
});

it("goes back to the form of the version before", async () => {
  const before = await secretOf(FORMER);
  const back = await rotate(FORMER, "--former-form");
  expect(back).toMatchObject({ form: "former", unreadable: [], left: 0 });
  expect(await isAll("former", FORMER)).toBe(true);
  await setCallback(FORMER, merchants[2]);
  expect([await isAll("former", FORMER), await secretOf(FORMER)]).toEqual([true, before]);
  // The version before opens these by the master key alone.
  const { rows } = await own.database.pool.query<{ secret: string }>(
    "SELECT webhook_secret AS secret FROM sandbox_provider",
  );
  expect(rows[0]?.secret).toMatch(/^[0-9a-f]{64}$/);
  await rotate(FORMER);
});

it("changes the key while the service writes: data stays, and the former key is not needed afterwards", async () => {
  const before = await Promise.all(merchants.slice(0, 3).map((merchantId) => secretOf(FORMER, merchantId)));
  const bodies = (texts: string[]) =>
    texts.map((text) =>
      Buffer.from(text.split(":")[3] ?? "", "base64url")
        .subarray(60)
        .toString("hex"),
    );
  const data = bodies(await stored());
  const running = rotate(BOTH);
  // A merchant that comes meanwhile, by a process that still writes under the former key.
  const meanwhile = await setCallback(FORMER, merchants[3]);
  const done = await running;
  expect(done).toMatchObject({ form: "envelope", encrypted: 0, unreadable: [] });
  expect(bodies(await stored())).toEqual(expect.arrayContaining(data));
  await rotate(BOTH);
  expect(await isAll("envelope", NEWER)).toBe(true);
  expect(await secretOf(NEWER, merchants[3])).toBe(meanwhile.secret);
  for (const [index, secret] of before.entries()) expect(await secretOf(NEWER, merchants[index])).toBe(secret);
});

it("one that is stopped in the middle is run again, and both keys are read meanwhile", async () => {
  const before = await Promise.all(merchants.map((merchantId) => secretOf(NEWER, merchantId)));
  useKeys(`${FORMER},${NEWER}`);
  let replaced = 0;
  const stopped = rotateSecrets(own.database.pool, SECRET_COLUMNS, {
    form: "envelope",
    replaced: () => {
      replaced += 1;
      if (replaced === 3) throw new Error("the machine is gone");
    },
  });
  await expect(stopped).rejects.toThrow("the machine is gone");
  expect([await isAll("envelope", FORMER), await isAll("envelope", NEWER)]).toEqual([false, false]);
  for (const [index, secret] of before.entries()) {
    expect(await secretOf(`${FORMER},${NEWER}`, merchants[index])).toBe(secret);
    expect(await secretOf(`${NEWER},${FORMER}`, merchants[index])).toBe(secret);
  }
  // The former key is still needed: a start without it is refused, and one with both is reminded of the rotation.
  await expect(startWith(FORMER)).rejects.toThrow("SALDO_SECRETS_KEY is not the key");
  expect(await startWith(`${FORMER},${NEWER}`)).toEqual(["database.secrets.former"]);
  const again = await rotate(`${FORMER},${NEWER}`);
  expect(again).toMatchObject({ encrypted: 0, unreadable: [], left: 0 });
  expect(Number(again["rewrapped"])).toBeGreaterThan(0);
  expect(await isAll("envelope", FORMER)).toBe(true);
  expect([await startWith(FORMER), await startWith(`${FORMER},${NEWER}`)]).toEqual([[], []]);
});

it("a start names secrets that none of its keys reads, and those under a former one", async () => {
  const [one = "", other = ""] = merchants;
  // As a process with other keys leaves them behind a finished rotation.
  await setCallback(BOTH, one, true);
  expect(await startWith(`${FORMER},${NEWER}`)).toEqual(["database.secrets.former"]);
  const places = ["token", "secret"].map((column) => `callback_settings.${column}/${one}`);
  expect(await startWith(FORMER)).toEqual([{ event: "database.secrets.unreadable", places }]);
  await rotate(`${FORMER},${NEWER}`);
  expect([await startWith(FORMER), await secretOf(FORMER, other)]).toEqual([[], expect.stringMatching(/^cs_/)]);
});

it("a secret that is changed meanwhile keeps the change", async () => {
  useKeys(BOTH);
  const [merchantId = ""] = merchants;
  let renewed = "";
  const pool = own.database.pool;
  const changing = {
    query: async (text: string, values: unknown[]) => {
      if (renewed === "" && text.includes("UPDATE callback_settings") && values[0] === merchantId) {
        renewed = (await setCallback(BOTH, merchantId, true)).secret;
      }
      return pool.query(text, values);
    },
  };
  await rotateSecrets(changing as unknown as typeof pool, SECRET_COLUMNS, { form: "envelope" });
  expect(renewed).not.toBe("");
  expect(await secretOf(NEWER, merchantId)).toBe(renewed);
});

it("a secret is nothing in another row", async () => {
  const [one = "", other = ""] = merchants;
  await own.database.pool.query(
    "UPDATE callback_settings s SET secret = o.secret FROM callback_settings o WHERE s.merchant_id = $1 AND o.merchant_id = $2",
    [one, other],
  );
  await expect(secretOf(NEWER, one)).rejects.toThrow("belongs to another row");
  await own.database.pool.query("UPDATE callback_settings SET secret = token WHERE merchant_id = $1", [one]);
  await expect(secretOf(NEWER, one)).rejects.toThrow("belongs to another row");
});

it("reports the places it cannot read, and goes on with the others", async () => {
  const [one = "", other = ""] = merchants;
  useKeys(FORMER);
  const name = `callback_settings.secret/${one}`;
  await own.database.pool.query("UPDATE callback_settings SET secret = $2 WHERE merchant_id = $1", [
    one,
    sealText(name, "of another key", "envelope"),
  ]);
  useKeys(NEWER);
  const { code, stdout } = await runSaldo(["secrets", "rotate", "--json"], { ...settings, SALDO_SECRETS_KEY: NEWER });
  expect([code, JSON.parse(stdout)]).toEqual([1, expect.objectContaining({ unreadable: [name] })]);
  expect(await secretOf(NEWER, other)).toMatch(/^cs_/);
  useKeys(FORMER);
  const { rows } = await own.database.pool.query<{ secret: string }>(
    "SELECT secret FROM callback_settings WHERE merchant_id = $1",
    [one],
  );
  expect(openText(name, rows[0]?.secret ?? "")).toBe("of another key");
});

it("names the missing key, and changes nothing", async () => {
  const before = await stored();
  const wrongKey = "a wrong key ".repeat(4);
  // The last merchant has no settings that could not be read.
  for (const [key, merchantId = ""] of [wrongKey, ""].flatMap((each) => [
    [each, merchants[1]],
    [each, merchants[4]],
  ])) {
    const words = ["merchant", "callback", "--merchant", merchantId, "--url", URL];
    const { code, stderr } = await runSaldo(words, { ...settings, SALDO_SECRETS_KEY: key ?? "" });
    expect([code, stderr]).toEqual([1, expect.stringContaining("not in SALDO_SECRETS_KEY")]);
  }
  expect((await runSaldo(["secrets", "rotate"], settings)).code).toBe(2);
  const wrong = await runSaldo(["secrets", "rotate"], { ...settings, SALDO_SECRETS_KEY: "a wrong key ".repeat(4) });
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("SALDO_SECRETS_KEY is not the key")]);
  expect(await stored()).toEqual(before);
});
