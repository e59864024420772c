// The token of a saved method can be charged: it is a secret at rest, like every other.

import { afterAll, beforeAll, expect, it } from "vitest";
import { SECRET_COLUMNS } from "../../src/app/compose/secrets.ts";
import { rotateSecrets } from "../../src/database/secrets/rotate-secrets.ts";
import { useSecretsKeys } from "../../src/kernel/sealed-text.ts";
import { AutoTopUpSetup } from "./auto-top-up-setup.ts";

const [FORMER, NEWER] = ["former ".repeat(6).trim(), "newer ".repeat(6).trim()];

let setup: AutoTopUpSetup;
beforeAll(async () => {
  setup = await AutoTopUpSetup.create();
});
afterAll(async () => {
  useSecretsKeys([]);
  await setup.close();
});

it("is stored encrypted, and is charged after the master key was changed", async () => {
  const process = await setup.process();
  const { pool } = process.database;
  useSecretsKeys([FORMER]);
  await rotateSecrets(pool, SECRET_COLUMNS, { form: "envelope" });
  const accountId = await setup.account(process);
  const stored = async (): Promise<string> =>
    (await pool.query<{ token: string }>("SELECT token FROM payment_method WHERE account_id = $1", [accountId])).rows[0]
      ?.token ?? "";
  const before = await stored();
  expect(before).toMatch(/^sealed:1:/);
  expect(before).not.toContain("sandbox-card");

  useSecretsKeys([NEWER, FORMER]);
  expect(await rotateSecrets(pool, SECRET_COLUMNS, { form: "envelope" })).toMatchObject({ unreadable: [], left: 0 });
  expect(await stored()).not.toBe(before);
  useSecretsKeys([NEWER]);
  await setup.round(process, accountId);
  expect(await setup.orders(process, accountId)).toMatchObject([{ state: "paid" }]);
});
