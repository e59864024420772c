// Every method × merchant pairs, gateway keys and service tokens that lack the scope, have ended, were revoked, or are over their
// limits, against a service as it is started.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TOKEN_SCOPES } from "../../src/identity/principal.ts";
import { withdrawServiceToken } from "../../src/identity/service-tokens.ts";
import { revokeKey, updateKey } from "../../src/keys/issued-keys.ts";
import { NO_LIMITS } from "../../src/keys/key-limits.ts";
import { revokePair } from "../../src/merchant/merchants/credentials.ts";
import { type MerchantCaller, type ServedSaldo, serveSaldo } from "../app/clients/served-saldo.ts";
import { onServer } from "../setup/test-servers.ts";
import { type MachineCredentials, machinesOf } from "./machine-caller.ts";
import {
  changes,
  EXPECTED,
  type Expectation,
  type Machine,
  type MachineMethod,
  machineMethods,
  methodsOf,
} from "./machine-methods.ts";

const LIMIT = 2;
let served: ServedSaldo;
let machines: ReturnType<typeof machinesOf>;
let accountId: string;
let merchant: MerchantCaller;
beforeAll(async () => {
  served = await serveSaldo({
    settings: {
      SALDO_RATE_MERCHANT: String(LIMIT),
      SALDO_RATE_SERVICE: String(LIMIT),
      // All wrong credentials of this file come from one network.
      SALDO_RATE_REFUSED_CREDENTIALS: "100000",
    },
  });
  machines = machinesOf(served);
  ({ accountId } = await served.customer());
  merchant = await served.merchant({ environment: "sandbox", coins: {}, accountId });
});
afterAll(() => served.stop());

const expectationOf = ({ name }: MachineMethod) => EXPECTED[name] ?? { takes: [] };
const scopeOf = (each: MachineMethod) => expectationOf(each).scope ?? "read";

type Walked = readonly (readonly string[])[];

/** How each method that takes a kind of machine answered, one method after the other. */
async function walk(kind: Machine, outcomes: (each: MachineMethod) => Promise<readonly string[]>): Promise<Walked> {
  const walked: string[][] = [];
  for (const each of methodsOf(kind)) walked.push([each.name, ...(await outcomes(each))]);
  return walked;
}

/** The same answers of each method, but for those that are free. */
const ofEach = (kind: Machine, wanted: readonly string[], ofFree = wanted): Walked =>
  methodsOf(kind).map((each) => [each.name, ...(expectationOf(each).isFree === true ? ofFree : wanted)]);

const call = (each: MachineMethod, credentials: MachineCredentials): Promise<string> =>
  machines.outcome(each.method, credentials, expectationOf(each).request);

/** Answers before and after something is done to credentials that the process has just taken, and of ones it never saw. */
async function beforeAndAfter(
  each: MachineMethod,
  issue: () => Promise<MachineCredentials>,
  end: (id: string) => Promise<unknown>,
): Promise<string[]> {
  const [remembered, unseen] = [await issue(), await issue()];
  const before = await call(each, remembered);
  await end(remembered.id);
  await end(unseen.id);
  return [before, await call(each, remembered), await call(each, unseen)];
}

async function callTimes(each: MachineMethod, credentials: MachineCredentials, times: number): Promise<string[]> {
  const answers: string[] = [];
  for (let i = 0; i < times; i += 1) answers.push(await call(each, credentials));
  return answers;
}

const ENDED = ["reached", "not known", "not known"];
const LIMITED = [...Array.from({ length: LIMIT }, () => "reached"), "rate_limit"];

test("every method that takes a machine has its line, and no line is of another method", () => {
  const named = machineMethods.map(({ name, takes }) => ({ name, takes }));
  const expected = Object.entries(EXPECTED).map(([name, { takes }]) => ({ name, takes }));
  const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);
  expect(named.toSorted(byName)).toEqual(expected.toSorted(byName));
  for (const each of machineMethods) {
    const { scope, money, request } = expectationOf(each);
    const isAboutMoney = changes(each) && (each.takes.includes("pair") || scope === "transfers");
    expect([each.name, scope !== undefined, money !== undefined, request !== undefined]).toEqual([
      each.name,
      each.takes.includes("token"),
      isAboutMoney,
      each.takes.includes("key"),
    ]);
  }
});

describe("a service token", () => {
  test("reaches a method with its one scope, and not with all the others", async () => {
    const walked = await walk("token", async (each) => {
      const others = TOKEN_SCOPES.filter((scope) => scope !== scopeOf(each));
      const having = await machines.newToken(accountId, { scopes: [scopeOf(each)] });
      const lacking = await machines.newToken(accountId, { scopes: others });
      return [await call(each, having), await call(each, lacking)];
    });
    expect(walked).toEqual(ofEach("token", ["reached", "permission_denied"]));
  });

  const issue = (each: MachineMethod) => () => machines.newToken(accountId, { scopes: [scopeOf(each)] });

  test("reaches no method from the moment it ends", async () => {
    const end = (id: string) =>
      onServer(served.databaseUrl, `UPDATE service_token SET expires_at = clock_timestamp() WHERE id = '${id}'`);
    const walked = await walk("token", (each) => beforeAndAfter(each, issue(each), end));
    expect(walked).toEqual(ofEach("token", ENDED));
  });

  test("reaches no method from the moment it is revoked", async () => {
    const end = (id: string) => withdrawServiceToken(served.database.pool, id);
    const walked = await walk("token", (each) => beforeAndAfter(each, issue(each), end));
    expect(walked).toEqual(ofEach("token", ENDED));
  });

  test("reaches no method more often than its window allows", async () => {
    const walked = await walk("token", async (each) => callTimes(each, await issue(each)(), LIMIT + 1));
    expect(walked).toEqual(ofEach("token", LIMITED));
  });
});

describe("a merchant pair", () => {
  const issue = () => machines.newPair(merchant.merchantId);

  test("reaches no method from the moment it is revoked", async () => {
    const walked = await walk("pair", (each) => beforeAndAfter(each, issue, (id) => revokePair(served.database, id)));
    expect(walked).toEqual(ofEach("pair", ENDED));
  });

  test("reaches no method more often than its window allows", async () => {
    const walked = await walk("pair", async (each) => callTimes(each, await issue(), LIMIT + 1));
    expect(walked).toEqual(ofEach("pair", LIMITED));
  });
});

describe("a gateway key", () => {
  test("reaches no method from the moment it is revoked", async () => {
    const end = (keyId: string) => revokeKey(served.database, { keyId });
    const walked = await walk("key", (each) => beforeAndAfter(each, () => machines.newKey(accountId, 0), end));
    expect(walked).toEqual(ofEach("key", ENDED, ["reached", "reached", "not known"]));
  });

  test("reaches no method more often than its window allows", async () => {
    const walked = await walk("key", async (each) =>
      callTimes(each, await machines.newKey(accountId, LIMIT), LIMIT + 1),
    );
    expect(walked).toEqual(
      ofEach(
        "key",
        LIMITED,
        LIMITED.map(() => "reached"),
      ),
    );
  });

  test("reaches no method from the moment it ends", async () => {
    const end = (keyId: string) =>
      onServer(served.databaseUrl, `UPDATE api_key SET expires_at = clock_timestamp() WHERE id = '${keyId}'`);
    const walked = await walk("key", (each) => beforeAndAfter(each, () => machines.newKey(accountId, 0), end));
    expect(walked).toEqual(ofEach("key", ENDED, ["reached", "reached", "not known"]));
  });

  test.each([
    ["its budget pays for", "key_budget_exceeded", { budget: { amount: 0n, period: "day" } as const }],
    ["it may ask", "model_not_allowed", { allowedModels: ["demo/echo"] }],
    ["its tokens are enough for", "token_limit_exceeded", { tokenLimit: 1 }],
  ])("asks no model that is not among those %s", async (_which, code, limits) => {
    const walked = await walk("key", async (each) => {
      const key = await machines.newKey(accountId, 0);
      await updateKey(served.database, {
        accountId,
        keyId: key.id,
        name: "limited",
        limits: { ...NO_LIMITS, ...limits },
      });
      return [await call(each, key)];
    });
    // Facts and counts of a model cost nothing, and are of models that the key may ask alone.
    const asksModel = ({ request, isFree }: Expectation): boolean =>
      request !== undefined &&
      (code === "model_not_allowed" ? "model" in request || "id" in request : "model" in request && isFree !== true);
    const wanted = methodsOf("key").map((each) => [each.name, asksModel(expectationOf(each)) ? code : "reached"]);
    expect(walked).toEqual(wanted);
  });

  test("calls nothing from a network that may not use it", async () => {
    const walked = await walk("key", async (each) => {
      const key = await machines.newKey(accountId, 0);
      const limits = { ...NO_LIMITS, allowedNetworks: ["203.0.113.0/24", "2001:db8::/32"] };
      await updateKey(served.database, { accountId, keyId: key.id, name: "limited", limits });
      return [await call(each, key)];
    });
    expect(walked).toEqual(methodsOf("key").map(({ name }) => [name, "network_not_allowed"]));
  });

  test("has no other limit: one that is added needs its walk here", async () => {
    const { rows } = await served.database.pool.query<{ name: string }>(
      "SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'api_key' ORDER BY 1",
    );
    const known =
      "account_id allowed_models allowed_networks budget budget_began_in budget_held budget_period budget_spent budget_start " +
      "budget_until budget_used_up_at budget_zone created_at digest expires_at id is_member_playground is_playground last_four name person_id prefix rate_limit rate_limit_bound revoked_at " +
      "slot_counts slots token_counts token_limit token_times tokens_held";
    expect(rows.map(({ name }) => name).join(" ")).toBe(known);
  });
});
