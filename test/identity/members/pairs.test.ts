// Merchants' pairs that members have made: none works any more once its maker may make none. As the merchant's server meets it.

import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MembersService } from "#gen/saldo/identity/v1/members_service_pb.ts";
import { Environment } from "#gen/saldo/merchant/v1/merchant_pb.ts";
import { MerchantService } from "#gen/saldo/merchant/v1/merchant_service_pb.ts";
import { AccountRole } from "#gen/saldo/options/v1/options_pb.ts";
import { requirePairRole } from "../../../src/identity/members/member-roles.ts";
import { RoleMissing } from "../../../src/kernel/errors.ts";
import { issueOwnPair } from "../../../src/merchant/merchants/credentials.ts";
import { openMerchant } from "../../../src/merchant/merchants/merchants.ts";
import { type ServedSaldo, serveSaldo } from "../../app/clients/served-saldo.ts";
import { joinAccount, type SignedIn, signInPerson } from "../../setup/session-rows.ts";

let served: ServedSaldo;
beforeAll(async () => {
  served = await serveSaldo();
});
afterAll(() => served.stop());

function reach(person: SignedIn) {
  const transport = createConnectTransport({
    baseUrl: served.server.httpUrl,
    httpVersion: "1.1",
    interceptors: [
      (next) => (request) => {
        request.header.set("cookie", person.cookie);
        request.header.set("origin", served.server.httpUrl);
        return next(request);
      },
    ],
  });
  return {
    ...person,
    members: createClient(MembersService, transport),
    merchants: createClient(MerchantService, transport),
  };
}

async function newMember(accountId: string, role: "owner" | "admin") {
  const person = await signInPerson(served.database.pool);
  await joinAccount(served.database.pool, person, { accountId, role });
  return reach(person);
}

/** The status that a merchant's server gets with a pair. */
async function statusOf({ apiKey, secretKey }: { apiKey: string; secretKey: string }): Promise<number> {
  const authorization = `Basic ${btoa(`${apiKey}:${secretKey}`)}`;
  return (await fetch(`${served.server.httpUrl}/sandbox/v1/merchant-transfers`, { headers: { authorization } })).status;
}

/** An owner, an admin who made the merchant and a second pair, and a pair of the owner. All work. */
async function pairsOfTwo() {
  const owner = reach(await signInPerson(served.database.pool));
  const admin = await newMember(owner.ownAccountId, "admin");
  const first = await admin.merchants.createMerchant({ environment: Environment.SANDBOX });
  const merchantId = first.merchant?.id ?? "";
  const made = [first, await admin.merchants.createCredential({ merchantId })];
  const kept = await owner.merchants.createCredential({ merchantId });
  expect(await Promise.all([...made, kept].map(statusOf))).toEqual([200, 200, 200]);
  const { personId } = admin;
  return {
    owner,
    admin,
    personId,
    merchantId,
    statuses: async () => [await Promise.all(made.map(statusOf)), await statusOf(kept)],
    lastLine: async () => (await owner.members.listActivity({})).lines[0],
  };
}

describe("the pairs that a member has made", () => {
  test("work no more once the member is removed, and others' pairs go on", async () => {
    const { owner, personId, statuses, lastLine } = await pairsOfTwo();
    await owner.members.removeMember({ personId });
    expect(await statuses()).toEqual([[401, 401], 200]);
    expect(await lastLine()).toMatchObject({ action: "member.removed", facts: { revoked_pairs: "2" } });
  });

  test("work no more once the member has left", async () => {
    const { admin, statuses } = await pairsOfTwo();
    await admin.members.leaveAccount({});
    expect(await statuses()).toEqual([[401, 401], 200]);
  });

  test.each([AccountRole.DEVELOPER, AccountRole.BILLING, AccountRole.VIEWER])(
    "work no more once the member has the role %i",
    async (role) => {
      const { owner, personId, statuses, lastLine } = await pairsOfTwo();
      await owner.members.changeRole({ personId, role });
      expect(await statuses()).toEqual([[401, 401], 200]);
      expect(await lastLine()).toMatchObject({ action: "member.role_changed", facts: { revoked_pairs: "2" } });
    },
  );

  test("work on where the member becomes an owner, and in another account", async () => {
    const { owner, personId, statuses } = await pairsOfTwo();
    await owner.members.changeRole({ personId, role: AccountRole.OWNER });
    expect(await statuses()).toEqual([[200, 200], 200]);
    const other = reach(await signInPerson(served.database.pool));
    const text = "INSERT INTO account_member (account_id, person_id, role) VALUES ($1, $2, 'admin')";
    await served.database.pool.query(text, [other.ownAccountId, personId]);
    await other.members.removeMember({ personId });
    expect(await statuses()).toEqual([[200, 200], 200]);
  });

  test("a person who was removed meanwhile makes neither a merchant nor a pair", async () => {
    const { owner, personId, merchantId } = await pairsOfTwo();
    await owner.members.removeMember({ personId });
    const accountId = owner.ownAccountId;
    const maker = {
      personId,
      requireRole: (client: Parameters<typeof requirePairRole>[0]) => requirePairRole(client, { accountId, personId }),
    };
    const { database } = served;
    await expect(issueOwnPair(database, { accountId, merchantId, maker })).rejects.toBeInstanceOf(RoleMissing);
    const production = { accountId, environment: "production", maker } as const;
    await expect(openMerchant({ database, isServed: () => true }, production)).rejects.toBeInstanceOf(RoleMissing);
  });
});
