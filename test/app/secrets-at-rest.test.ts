// Secrets in the database: encrypted under a key of the environment, which can be changed while the service runs.

import { afterAll, beforeAll, expect, it } from "vitest";
import { signingSecret } from "../../src/identity/signing-secret.ts";
import { useSecretsKeys } from "../../src/kernel/sealed-text.ts";
import { updateCallbackSettings } from "../../src/merchant/callbacks/callback-settings.ts";
import { readSettings } from "../../src/merchant/callbacks/store.ts";
import { createMerchant } from "../../src/merchant/merchants/merchants.ts";
import { runSaldo, saldoJson } from "../setup/saldo-command.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { newCustomer } from "./customer.ts";

const [FORMER, NEWER] = ["former ".repeat(6), "newer ".repeat(6)];
const URL = "https://receiver.example/";

let own: TestDatabase;
let settings: Record<string, string>;
let merchant: string;
beforeAll(async () => {
  own = await createTestDatabase();
  settings = { DATABASE_URL: own.url };
  const { accountId } = await newCustomer(settings);
  merchant = (await createMerchant(own.database, { accountId, environment: "sandbox" })).merchantId;
});
afterAll(async () => {
  useSecretsKeys([]);
  await own.drop();
});

/** Sets the callback as a process with these keys does. */
const setCallback = (keys: string, renewSecret = false) => {
  useSecretsKeys(keys === "" ? [] : keys.split(",").map((key) => key.trim()));
  const change = { merchantId: merchant, url: URL, token: "", renewSecret };
  return updateCallbackSettings({ database: own.database, allowLoopback: false }, change);
};
/** The secret that signs callbacks, as a process with these keys reads it. */
const secretOf = async (keys: string): Promise<string | undefined> => {
  useSecretsKeys([keys.trim()]);
  return (await readSettings(own.database.pool, merchant))?.secret;
};
/** The rows of the database, as a reader of a backup sees them. */
const stored = async (): Promise<string[]> => {
  const { rows } = await own.database.pool.query<{ text: string }>(
    `SELECT token AS text FROM callback_settings UNION ALL SELECT secret FROM callback_settings
     UNION ALL SELECT secret FROM auth.signing_secret`,
  );
  return rows.map(({ text }) => text);
};

it("reads what was stored in clear, and encrypts it by command and with each change", async () => {
  const made = await setCallback("");
  const signing = await signingSecret(own.database.pool, []);
  const secrets = [made.token, made.secret, signing];
  expect(await stored()).toEqual(secrets);

  const { merchants, signingSecrets } = await saldoJson(["secrets", "encrypt"], {
    ...settings,
    SALDO_SECRETS_KEY: FORMER,
  });
  expect([merchants, signingSecrets]).toEqual([1, 1]);
  const encrypted = await stored();
  for (const text of encrypted) expect(text).toMatch(/^sealed:1:[0-9a-f]{8}:/);
  for (const secret of secrets) expect(encrypted.join()).not.toContain(secret);
  useSecretsKeys([FORMER.trim()]);
  expect(await signingSecret(own.database.pool, [])).toBe(signing);
  // A change that keeps the secret reads it and stores it encrypted again.
  await setCallback(FORMER);
  expect(await secretOf(FORMER)).toBe(secrets[1]);
  const renewed = await setCallback(FORMER, true);
  expect((await stored()).join()).not.toContain(renewed.secret);
});

it("changes the key: both are read meanwhile, and afterwards the former one is not needed", async () => {
  const both = `${NEWER},${FORMER}`;
  const before = await secretOf(FORMER);
  await setCallback(both);
  const { merchants } = await saldoJson(["secrets", "encrypt"], { ...settings, SALDO_SECRETS_KEY: both });
  expect(merchants).toBe(0); // the change above has stored them under the newer key
  expect(await secretOf(NEWER)).toBe(before);
  useSecretsKeys([NEWER.trim()]);
  expect(await signingSecret(own.database.pool, [])).toMatch(/^[\w-]{43}$/);
});

it("names the missing key, and changes nothing", async () => {
  const before = await stored();
  const words = ["merchant", "callback", "--merchant", merchant, "--url", URL];
  const { code, stderr } = await runSaldo(words, { ...settings, SALDO_SECRETS_KEY: FORMER });
  expect([code, stderr]).toEqual([1, expect.stringContaining("not in SALDO_SECRETS_KEY")]);
  expect((await runSaldo(["secrets", "encrypt"], settings)).code).toBe(2);
  expect(await stored()).toEqual(before);
});
