import { ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { UNRECORDED } from "../../src/database/record-change.ts";
import { KeysService } from "#gen/saldo/keys/v1/keys_service_pb.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { createKeys } from "../../src/keys/keys.ts";
import { createKeysService } from "../../src/keys/service.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";

let opened: TestDatabase;
beforeAll(async () => {
  opened = await createTestDatabase();
});
afterAll(() => opened.drop());

/** The service as one account's caller reaches it. */
async function clientOfNewAccount() {
  const accountId = uuidv7();
  await opened.database.pool.query("INSERT INTO account (id) VALUES ($1)", [accountId]);
  const service = createKeysService({
    database: opened.database,
    accountOf: () => accountId,
    memberOf: () => null,
    requireRole: () => Promise.resolve(),
    recordChangeOf: () => UNRECORDED,
  });
  return createClient(
    KeysService,
    createRouterTransport((router) => router.service(KeysService, service)),
  );
}

test("shows the secret at creation and never again", async () => {
  const client = await clientOfNewAccount();
  const { key, secret } = await client.createKey({ name: "laptop" });
  expect(await createKeys({ database: opened.database }).verify(secret)).toMatchObject({ keyId: key?.id });
  const { keys, nextPageToken } = await client.listKeys({});
  expect({ keys, nextPageToken }).toEqual({ keys: [key], nextPageToken: "" });
  expect(
    JSON.stringify(keys, (_name, value: unknown) => (typeof value === "bigint" ? String(value) : value)),
  ).not.toContain(secret);
});

test("renames and revokes a key of the caller's account", async () => {
  const client = await clientOfNewAccount();
  const { key } = await client.createKey({ name: "laptop" });
  const keyId = key?.id ?? "";
  expect((await client.updateKey({ keyId, name: "desk" })).key).toMatchObject({ name: "desk" });
  expect((await client.updateKey({ keyId, name: "desk" })).key?.revokedAt).toBeUndefined();
  const { key: revoked } = await client.revokeKey({ keyId });
  expect(revoked?.revokedAt).toBeDefined();
  expect((await client.revokeKey({ keyId })).key?.revokedAt).toEqual(revoked?.revokedAt);
});

test("does not find a key of another account", async () => {
  const owner = await clientOfNewAccount();
  const stranger = await clientOfNewAccount();
  const keyId = (await owner.createKey({ name: "laptop" })).key?.id ?? "";
  await expect(stranger.updateKey({ keyId, name: "mine" })).rejects.toThrow(ConnectError);
  await expect(stranger.revokeKey({ keyId })).rejects.toThrow(ConnectError);
  const { keys } = await owner.listKeys({});
  expect(keys.map(({ name, revokedAt }) => [name, revokedAt])).toEqual([["laptop", undefined]]);
});
