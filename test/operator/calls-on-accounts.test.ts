// Operators' calls on accounts of others through the services of their owners: each leaves a line with the operator and the call,
// and the owners' own calls leave none.

import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { recordChangeOf } from "../../src/app/compose/record-change.ts";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { KeysService } from "#gen/saldo/keys/v1/keys_service_pb.ts";
import { recordCallsOnAccounts } from "../../src/app/compose/operator.ts";
import { listActions } from "../../src/operator/audit-log/operator-actions.ts";
import { createBillingService } from "../../src/billing/service.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { createKeysService } from "../../src/keys/service.ts";
import { accountOf, isOperator, memberOf } from "../../src/transport/calls/callers.ts";
import { type Running, startServers } from "../transport/fakes.ts";
import { PROVED } from "../setup/proofs.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";

const OWN = uuidv7();
const OTHER = uuidv7();
const PERSON = {
  sessionId: uuidv7(),
  personId: uuidv7(),
  accountId: OWN,
  ownAccountId: OWN,
  role: "owner" as const,
  email: "ani@example.com",
  isOperator: true,
  proof: PROVED,
};

let opened: TestDatabase;
let running: Running;
beforeAll(async () => {
  opened = await createTestDatabase();
  await opened.database.pool.query("INSERT INTO account (id) VALUES ($1), ($2)", [OWN, OTHER]);
  running = await startServers({
    people: { verifySession: async () => PERSON, accountExists: async () => true },
    recordCall: recordCallsOnAccounts(opened.database),
    implementations: {
      keys: createKeysService({
        database: opened.database,
        accountOf,
        memberOf,
        requireRole: async () => {},
        recordChangeOf,
      }),
      billing: createBillingService({
        database: opened.database,
        accountOf,
        recordChangeOf,
        visibleKeysOf: async () => null,
        isOperator,
      }),
    },
  });
});
afterAll(async () => {
  await running.servers.close(1_000);
  await opened.drop();
});

function transportAs(account: string | null) {
  return createConnectTransport({
    baseUrl: running.http,
    httpVersion: "1.1",
    interceptors: [
      (next) => (req) => {
        req.header.set("cookie", "signed in");
        req.header.set("origin", running.http);
        if (account !== null) req.header.set("x-saldo-account", account);
        return next(req);
      },
    ],
  });
}

const keysAs = (account: string | null) => createClient(KeysService, transportAs(account));
const billingAs = (account: string) => createClient(BillingService, transportAs(account));
const lines = async () => (await listActions(opened.database.pool, { limit: 100 })).toReversed();

test("leave a line for each that may change something, with the operator and the account", async () => {
  const keys = keysAs(OTHER);
  const { key } = await keys.createKey({ name: "for them" });
  const keyId = key?.id ?? "";
  await keys.updateKey({ keyId, name: "renamed" });
  await keys.revokeKey({ keyId });
  expect(await lines()).toMatchObject(
    ["KeysService/CreateKey", "KeysService/UpdateKey", "KeysService/RevokeKey"].map((action) => ({
      operator: PERSON.email,
      action,
      subject: OTHER,
    })),
  );
});

test("leave none for reading, for what was refused before it began, and for the own account", async () => {
  const before = (await lines()).length;
  await keysAs(OTHER).listKeys({});
  const refused = await keysAs(OTHER)
    .createKey({ name: "" })
    .catch((error: unknown) => ConnectError.from(error).code);
  expect(refused).toBe(Code.InvalidArgument);
  await keysAs(null).createKey({ name: "mine" });
  for await (const { csv } of billingAs(OTHER).exportLedger({})) expect(csv.length).toBeGreaterThan(0);
  expect(await lines()).toHaveLength(before);
});
