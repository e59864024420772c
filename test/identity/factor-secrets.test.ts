// Stored second factors after a change of SALDO_AUTH_SECRET, and those stored before recovery codes were hashed.

import { symmetricEncrypt } from "better-auth/crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  createFactorSecrets,
  FactorUnreadable,
  renewAllFactors,
} from "../../src/identity/second-factor/factor-secrets.ts";
import { nameOfApp, readFactor } from "../../src/identity/second-factor/second-factor-store.ts";
import { openText } from "../../src/kernel/sealed-text.ts";
import { factorSteps } from "./factor-steps.ts";
import { type ServedPeople, servePeople } from "./served-people.ts";

const PASSWORD = "a-long-quiet-river";
const [FORMER, NEWER, OTHER] = ["former-".repeat(6), "newer-".repeat(7), "other-".repeat(7)];

let served: ServedPeople;
beforeAll(async () => {
  served = await servePeople({ SALDO_AUTH_SECRET: `${NEWER}, ${FORMER}` });
});
afterAll(() => served.stop());

const { newOperator, nextCode, setUpApp } = factorSteps(() => served);

type Row = { secret: string; codes: string };

async function rowOf(email: string): Promise<Row> {
  const { rows } = await served.opened.database.pool.query<Row & { id: string }>(
    `SELECT p.id, secret, backup_codes AS codes FROM auth.two_factor f JOIN auth.person p ON p.id = f.user_id
     WHERE email = $1`,
    [email],
  );
  const { id = "", secret = "", codes = "" } = rows[0] ?? {};
  return { secret: openText(nameOfApp(id), secret), codes };
}

/** An operator whose app and recovery codes are stored as in the first versions: encrypted under one secret without a number. */
async function withOldFactor(secret = FORMER) {
  const { browser, email } = await newOperator();
  const appSecret = await setUpApp(browser);
  const codes = (await browser.auth("/second-factor/recovery-codes", {})).json["codes"] as string[];
  const plain = await createFactorSecrets([NEWER]).decrypt((await rowOf(email)).secret);
  const encrypt = (data: string): Promise<string> => symmetricEncrypt({ key: secret, data });
  await served.opened.database.pool.query(
    `UPDATE auth.two_factor f SET secret = $2, backup_codes = $3 FROM auth.person p WHERE p.id = f.user_id AND email = $1`,
    [email, await encrypt(plain), await encrypt(JSON.stringify(codes))],
  );
  return { email, appSecret, codes };
}

async function signIn(email: string, path: string, code: string): Promise<number> {
  const browser = served.newBrowser();
  await browser.auth("/sign-in/email", { email, password: PASSWORD });
  return (await browser.auth(path, { code })).status;
}

test("an app and codes from before work at their first use, which stores them in the current form", async () => {
  const { email, appSecret, codes } = await withOldFactor();
  expect(await signIn(email, "/two-factor/verify-totp", await nextCode(appSecret))).toBe(200);
  const { secret, codes: stored } = await rowOf(email);
  expect(await createFactorSecrets([NEWER]).decrypt(secret)).toHaveLength(32);
  expect(JSON.parse(stored)).toEqual(Array.from({ length: 10 }, () => expect.stringMatching(/^\$argon2id\$/)));
  const again = await withOldFactor();
  const statuses = [await signIn(again.email, "/two-factor/verify-backup-code", again.codes[3] ?? "")];
  statuses.push(await signIn(again.email, "/two-factor/verify-backup-code", again.codes[3] ?? ""));
  expect(statuses).toEqual([200, 401]);
  expect(await signIn(email, "/two-factor/verify-backup-code", codes[9] ?? "")).toBe(200);
});

test("a recovery code is taken once, however many use it at the same time", async () => {
  const { email, codes } = await withOldFactor();
  const use = (): Promise<number> => signIn(email, "/two-factor/verify-backup-code", codes[0] ?? "");
  const statuses = await Promise.all([use(), use(), use()]);
  expect(statuses.filter((status) => status === 200)).toEqual([200]);
  expect(statuses.filter((status) => status !== 200 && (status < 400 || status > 499))).toEqual([]);
  expect(JSON.parse((await rowOf(email)).codes)).toHaveLength(9);
});

test("parallel renewals of a factor all continue with the stored one", async () => {
  const { pool } = served.opened.database;
  const { email } = await withOldFactor();
  const { rows } = await pool.query<{ id: string }>(`SELECT id FROM auth.person WHERE email = $1`, [email]);
  const factor = await readFactor(pool, rows[0]?.id ?? "");
  if (factor === null) throw new Error("the person has a factor");
  const secrets = createFactorSecrets([NEWER, FORMER]);
  const renewed = await Promise.all([secrets.renewed(pool, factor), secrets.renewed(pool, factor)]);
  const { codes } = await rowOf(email);
  expect(renewed.map(({ backupCodes }) => backupCodes)).toEqual([codes, codes]);
});

test("unused factors are encrypted again at the start, under the first secret, and need the former one no longer", async () => {
  const { pool } = served.opened.database;
  const old = await withOldFactor();
  const unreadable: string[] = [];
  const renew = (secrets: string[]): Promise<void> =>
    renewAllFactors(pool, createFactorSecrets(secrets), (personId) => unreadable.push(personId));
  await renew([NEWER, FORMER]);
  const first = await rowOf(old.email);
  const plain = await createFactorSecrets([NEWER]).decrypt(first.secret);
  expect(unreadable).toEqual([]);
  // Another change: a stored value with a number is decrypted by it.
  await renew([OTHER, NEWER]);
  const second = await rowOf(old.email);
  expect(second.codes).toBe(first.codes);
  expect(await createFactorSecrets([OTHER]).decrypt(second.secret)).toBe(plain);
  await expect(createFactorSecrets([NEWER]).decrypt(second.secret)).rejects.toThrow(FactorUnreadable);
  await renew([NEWER, OTHER]);
  expect(await signIn(old.email, "/two-factor/verify-totp", await nextCode(old.appSecret))).toBe(200);
});

test("a factor under an unknown secret is reported and left as it is, and the others are renewed", async () => {
  const [lost, old] = [await withOldFactor(OTHER), await withOldFactor()];
  const before = await rowOf(lost.email);
  const unreadable: string[] = [];
  await renewAllFactors(served.opened.database.pool, createFactorSecrets([NEWER, FORMER]), (id) => unreadable.push(id));
  expect(unreadable).toHaveLength(1);
  expect(await rowOf(lost.email)).toEqual(before);
  expect((await rowOf(old.email)).codes).toMatch(/^\["\$argon2id/);
});
