// What a developer of an account sees of other members' keys and usage, by every path: nothing.

import { create } from "@bufbuild/protobuf";
import { createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { UsageGrouping } from "#gen/saldo/billing/v1/usage_pb.ts";
import { ChatCompletionRequestSchema, GatewayService } from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import { BillingService, KeysService } from "../../../src/client/client.ts";
import { withTransaction } from "../../../src/database/transactions.ts";
import { requireKeyRole } from "../../../src/identity/members/member-roles.ts";
import { RoleMissing } from "../../../src/kernel/errors.ts";
import { issueKey } from "../../../src/keys/issue-key.ts";
import { createPlaygroundKeys } from "../../../src/keys/playground-key.ts";
import { creditByOperator } from "../../setup/operator-credit.ts";
import { type ServedSaldo, serveSaldo } from "../../app/clients/served-saldo.ts";
import { problemOf } from "../../setup/rpc-problem.ts";
import { joinAccount, type SignedIn, signInPerson } from "../../setup/session-rows.ts";

const ASKED = create(ChatCompletionRequestSchema, {
  model: "demo/small",
  messages: [{ role: "user", content: "Hi" }],
});

let served: ServedSaldo;
let accountId: string;
let holder: Member;
let ani: Member;
let budi: Member;
let viewer: Member;
beforeAll(async () => {
  served = await serveSaldo();
  const { pool } = served.database;
  const owner = await signInPerson(pool);
  accountId = owner.ownAccountId;
  await withTransaction(served.database, (client) =>
    creditByOperator(client, { accountId, amount: 1_000_000_000_000n }),
  );
  holder = await member(owner);
  [ani, budi] = [await newDeveloper(), await newDeveloper()];
  viewer = reach(await joined("viewer"));
});
afterAll(() => served.stop());

type Member = Awaited<ReturnType<typeof member>>;
const reach = (person: SignedIn) => {
  const through = transport({ cookie: person.cookie, origin: served.server.httpUrl });
  return {
    ...person,
    keys: createClient(KeysService, through),
    billing: createClient(BillingService, through),
    gateway: createClient(GatewayService, through),
    keyId: "",
    secret: "",
    requests: [] as string[],
  };
};

async function joined(role: "developer" | "viewer" | "admin"): Promise<SignedIn> {
  const person = await signInPerson(served.database.pool);
  await joinAccount(served.database.pool, person, { accountId, role });
  return person;
}
const newDeveloper = async () => member(await joined("developer"));

/** A member with a key, one request with it, and one in the playground. */
async function member(person: SignedIn) {
  const reached = reach(person);
  const { key, secret } = await reached.keys.createKey({ name: `of ${person.personId}` });
  const before = new Set((await served.usage(accountId)).map(({ requestId }) => requestId));
  await served.chat(secret, { model: "demo/small", messages: [{ role: "user", content: "Hi" }] });
  await reached.gateway.createChatCompletion(ASKED);
  const requests = (await served.usage(accountId)).map(({ requestId }) => requestId).filter((id) => !before.has(id));
  expect(requests).toHaveLength(2);
  return { ...reached, keyId: key?.id ?? "", secret, requests };
}

function transport(headers: Record<string, string>): Transport {
  return createConnectTransport({
    baseUrl: served.server.httpUrl,
    httpVersion: "1.1",
    interceptors: [
      (next) => (request) => {
        for (const [name, value] of Object.entries(headers)) request.header.set(name, value);
        return next(request);
      },
    ],
  });
}

const idsOf = (records: readonly { requestId: string }[]) => records.map(({ requestId }) => requestId).toSorted();
async function exported({ billing }: Pick<Member, "billing">, filter = {}): Promise<string[]> {
  const pieces = await Array.fromAsync(billing.exportUsage({ filter }), ({ csv }) => Buffer.from(csv).toString());
  return pieces
    .join("")
    .split("\r\n")
    .slice(1)
    .filter((line) => line !== "")
    .map((line) => line.split(",")[0] ?? "")
    .toSorted();
}

describe("a developer", () => {
  test("lists the own keys alone, that of the own playground included", async () => {
    const { keys } = await ani.keys.listKeys({});
    expect(keys.map(({ personId, isPlayground }) => [personId, isPlayground])).toEqual([
      [ani.personId, true],
      [ani.personId, false],
    ]);
    expect(keys.map(({ id }) => id)).toContain(ani.keyId);
  });

  test("neither renames nor revokes the key of another member", async () => {
    for (const { keyId } of [budi, holder]) {
      expect(await problemOf(ani.keys.updateKey({ keyId, name: "mine" }))).toBe("not_found");
      expect(await problemOf(ani.keys.revokeKey({ keyId }))).toBe("not_found");
    }
    const { keys } = await holder.keys.listKeys({});
    expect(keys.filter(({ name, revokedAt }) => name === "mine" || revokedAt !== undefined)).toEqual([]);
  });

  test("renames the own key, and leaves its limits to owners", async () => {
    expect((await ani.keys.updateKey({ keyId: ani.keyId, name: "renamed" })).key?.name).toBe("renamed");
    const limits = { budgetIdr: "", allowedModels: [] };
    expect(await problemOf(ani.keys.updateKey({ keyId: ani.keyId, name: "x", limits }))).toBe("permission_denied");
    const rate = { keyId: ani.keyId, name: "x", rateLimit: 5 };
    expect(await problemOf(ani.keys.updateKey(rate))).toBe("permission_denied");
    expect((await holder.keys.updateKey({ keyId: ani.keyId, name: "renamed", limits })).key?.name).toBe("renamed");
  });

  test("lists, opens, sums and exports the own requests alone", async () => {
    const own = ani.requests.toSorted();
    expect(idsOf((await ani.billing.listUsage({})).records)).toEqual(own);
    expect(await exported(ani)).toEqual(own);
    expect((await ani.billing.summarizeUsage({})).totals?.requests).toBe(2n);
    const byKey = await ani.billing.summarizeUsage({ grouping: UsageGrouping.KEY });
    expect(byKey.rows.map(({ requests }) => requests)).toEqual([1, 1]);
    for (const requestId of [...budi.requests, ...holder.requests])
      expect(await problemOf(ani.billing.getUsageRecord({ requestId }))).toBe("not_found");
    for (const requestId of own)
      expect((await ani.billing.getUsageRecord({ requestId })).record?.requestId).toBe(requestId);
  });

  test("finds nothing by the key of another member, in any case of its letters", async () => {
    for (const keyId of [budi.keyId, budi.keyId.toUpperCase(), holder.keyId]) {
      const filter = { keyId };
      expect((await ani.billing.listUsage({ filter })).records).toEqual([]);
      expect(await exported(ani, filter)).toEqual([]);
      expect((await ani.billing.summarizeUsage({ filter })).totals?.requests).toBe(0n);
    }
    const filter = { keyId: ani.keyId.toUpperCase() };
    expect((await ani.billing.listUsage({ filter })).records).toHaveLength(1);
  });

  test("sees no more with a key, which shows what its maker may read", async () => {
    const byKey = createClient(BillingService, transport({ authorization: `Bearer ${ani.secret}` }));
    expect(idsOf((await byKey.listUsage({})).records)).toEqual(ani.requests.toSorted());
  });
});

test("owners and viewers see every member's keys and usage, and an owner's key shows the account", async () => {
  const all = [...ani.requests, ...budi.requests, ...holder.requests].toSorted();
  for (const reader of [holder, viewer]) {
    expect(idsOf((await reader.billing.listUsage({})).records)).toEqual(all);
    expect(await exported(reader)).toEqual(all);
    expect((await reader.keys.listKeys({})).keys.length).toBe(6);
  }
  const byKey = createClient(BillingService, transport({ authorization: `Bearer ${holder.secret}` }));
  expect(idsOf((await byKey.listUsage({})).records)).toEqual(all);
});

test("usage is listed, summed and exported by member, for those who may see it", async () => {
  const filter = { personId: ani.personId.toUpperCase() };
  const own = ani.requests.toSorted();
  for (const reader of [holder, viewer, ani]) {
    expect(idsOf((await reader.billing.listUsage({ filter })).records)).toEqual(own);
    expect(await exported(reader, filter)).toEqual(own);
    expect((await reader.billing.summarizeUsage({ filter })).totals?.requests).toBe(2n);
  }
  expect(idsOf((await holder.billing.listUsage({ filter: { personId: holder.personId } })).records)).toEqual(
    holder.requests.toSorted(),
  );
  expect((await ani.billing.listUsage({ filter: { personId: budi.personId } })).records).toEqual([]);
  expect(await problemOf(holder.billing.listUsage({ filter: { personId: "ani" } }))).toBe("validation_error");
});

test("usage is summed by member and day as the filter by member sums it, and a developer's sum is the own usage", async () => {
  const grouping = UsageGrouping.PERSON_AND_DAY;
  const chargeOf = (charges: readonly string[]): number => charges.reduce((sum, charge) => sum + Number(charge), 0);
  for (const reader of [holder, viewer]) {
    const { rows, totals } = await reader.billing.summarizeUsage({ grouping });
    expect(rows.every(({ keyId, model }) => keyId === "" && model === "")).toBe(true);
    for (const { personId } of [ani, budi, holder]) {
      const own = rows.filter((row) => row.personId === personId);
      const filtered = (await reader.billing.summarizeUsage({ filter: { personId } })).totals;
      expect(own.reduce((sum, { requests }) => sum + requests, 0)).toBe(Number(filtered?.requests));
      expect(chargeOf(own.map(({ charge }) => charge))).toBeCloseTo(Number(filtered?.charge), 6);
    }
    expect(chargeOf(rows.map(({ charge }) => charge))).toBeCloseTo(Number(totals?.charge), 6);
    expect(new Set(rows.map(({ personId }) => personId))).toEqual(
      new Set([ani, budi, holder].map(({ personId }) => personId)),
    );
  }
  const own = await ani.billing.summarizeUsage({ grouping });
  expect(new Set(own.rows.map(({ personId }) => personId))).toEqual(new Set([ani.personId]));
  expect(own.totals?.requests).toBe(2n);
});

test("the key of an admin who becomes a developer shows the own requests from the next call on", async () => {
  const person = await joined("admin");
  const admin = reach(person);
  const { secret } = await admin.keys.createKey({ name: "of an admin" });
  const byKey = createClient(BillingService, transport({ authorization: `Bearer ${secret}` }));
  expect((await byKey.listUsage({})).records.length).toBeGreaterThan(5);
  await joinAccount(served.database.pool, person, { accountId, role: "developer" });
  expect((await byKey.listUsage({})).records).toEqual([]);
  expect((await admin.billing.listUsage({})).records).toEqual([]);
});

describe("behind the lock of the account", () => {
  test("a person who was removed meanwhile makes no key", async () => {
    const { personId } = await signInPerson(served.database.pool);
    const maker = {
      personId,
      requireRole: (client: Parameters<typeof requireKeyRole>[0]) => requireKeyRole(client, { accountId, personId }),
    };
    await expect(issueKey(served.database, { accountId, name: "late", maker })).rejects.toBeInstanceOf(RoleMissing);
    const playground = createPlaygroundKeys(served.database, requireKeyRole);
    await expect(playground({ accountId, personId, isHolder: false })).rejects.toBeInstanceOf(RoleMissing);
  });
});
