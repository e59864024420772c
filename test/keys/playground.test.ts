import { afterAll, beforeAll, expect, test } from "vitest";
import { requireKeyRole } from "../../src/identity/members/member-roles.ts";
import { LimitExceeded, NotFound } from "../../src/kernel/errors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { createPlaygroundKeys } from "../../src/keys/playground-key.ts";
import { issueKey } from "../../src/keys/issue-key.ts";
import { listKeys, updateKey, revokeKey } from "../../src/keys/issued-keys.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";

let opened: TestDatabase;
beforeAll(async () => {
  opened = await createTestDatabase();
});
afterAll(() => opened.drop());

async function newAccount(): Promise<string> {
  const accountId = uuidv7();
  await opened.database.pool.query("INSERT INTO account (id) VALUES ($1)", [accountId]);
  return accountId;
}

/** The person whose account it is. */
const holder = (accountId: string) => ({ accountId, personId: uuidv7(), isHolder: true });

test("is one key of the account, however many ask for it first", async () => {
  const accountId = await newAccount();
  // Two nodes, which share no memory.
  const nodes = [
    createPlaygroundKeys(opened.database, requireKeyRole),
    createPlaygroundKeys(opened.database, requireKeyRole),
  ] as const;
  const keys = await Promise.all(
    Array.from({ length: 20 }, (_, index) => nodes[index % 2 === 0 ? 0 : 1](holder(accountId))),
  );
  expect(new Set(keys.map(({ keyId }) => keyId)).size).toBe(1);
  expect(keys[0]).toMatchObject({ accountId, rateLimit: 60 });
  const { rows } = await opened.database.pool.query("SELECT FROM api_key WHERE account_id = $1", [accountId]);
  expect(rows).toHaveLength(1);
});

test("is seen in the list, and neither renamed nor revoked by its owner", async () => {
  const accountId = await newAccount();
  const { keyId } = await createPlaygroundKeys(opened.database, requireKeyRole)(holder(accountId));
  const { items: keys } = await listKeys(opened.database, { accountId });
  expect(keys).toMatchObject([{ keyId, name: "Playground", isPlayground: true, prefix: "", lastFour: "" }]);
  await expect(revokeKey(opened.database, { accountId, keyId })).rejects.toBeInstanceOf(NotFound);
  await expect(updateKey(opened.database, { accountId, keyId, name: "mine" })).rejects.toBeInstanceOf(NotFound);
});

test("takes no place among the keys that an account may have", async () => {
  const accountId = await newAccount();
  await createPlaygroundKeys(opened.database, requireKeyRole)(holder(accountId));
  for (let index = 0; index < 100; index += 1) await issueKey(opened.database, { accountId, name: `key ${index}` });
  await expect(issueKey(opened.database, { accountId, name: "one more" })).rejects.toBeInstanceOf(LimitExceeded);
});

test("is not made for an account that is not there", async () => {
  await expect(createPlaygroundKeys(opened.database, requireKeyRole)(holder(uuidv7()))).rejects.toBeInstanceOf(
    NotFound,
  );
});
