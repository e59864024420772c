// The auditor who finds nothing may see nothing: here is a wrong bill of each kind, and what is said of it.

import type { Pool } from "pg";
import { expect, it } from "vitest";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { type Ask, type Behaviour, exactCost } from "./asks.ts";
import { type Account, Shadow } from "./shadow.ts";

const ACCOUNT: Account = { accountId: uuidv7(), key: "gw_x", credited: 1_000_000_000n, isRich: true };

type Bill = { requestId: string; charge: bigint; basis?: string; upstreamId?: string | null; accountId?: string };

/** A ledger that says what it is told to say. */
function ledgerOf(bills: readonly Bill[], balance: { posted?: bigint; held?: bigint } = {}): Pool {
  const charged = bills.reduce((sum, { charge }) => sum + charge, 0n);
  const state = { id: ACCOUNT.accountId, posted: ACCOUNT.credited - charged, held: 0n, ...balance };
  const records = bills.map(({ requestId, charge, basis = "exact", upstreamId = null, accountId }) => ({
    request_id: requestId,
    account_id: accountId ?? ACCOUNT.accountId,
    upstream_request_id: upstreamId,
    charge,
    basis,
  }));
  const query = async (text: string) => ({
    rows: text.includes("upstream_request_id") ? records : [{ ...state, records: records.length, charged }],
  });
  return { query } as unknown as Pool;
}

function askOf(id: string, behaviour: Behaviour = "answer"): Ask {
  return { id, behaviour, stream: false, promptTokens: 40, cachedTokens: 10, completionTokens: 20, leaves: null };
}

/** One request that was answered, and the ledger's word on it; gives what the auditor says. */
async function judge(
  bills: (requestId: string, cost: bigint) => readonly Bill[],
  { behaviour, balance, toldCost, calls = 1 }: JudgeOptions = {},
): Promise<string[]> {
  const shadow = new Shadow(Date.now() - 1_000);
  shadow.add(ACCOUNT);
  const ask = askOf("ask-1", behaviour);
  const requestId = uuidv7();
  shadow.sent(ask, ACCOUNT);
  for (let call = 0; call < calls; call += 1) shadow.called(ask.id);
  shadow.ended(ask, { requestId, toldCost: toldCost === undefined ? exactCost(ask) : toldCost });
  await shadow.close(ledgerOf(bills(requestId, exactCost(ask)), balance));
  return shadow.violations;
}

type JudgeOptions = {
  behaviour?: Behaviour;
  balance?: { posted?: bigint; held?: bigint };
  toldCost?: bigint | null;
  calls?: number;
};

it("has nothing to say of a right bill, nor of one for a request that was left and lost its name", async () => {
  expect(await judge((requestId, charge) => [{ requestId, charge }])).toEqual([]);
  const nameless = [{ requestId: uuidv7(), charge: 265_000n, basis: "estimated" }];
  expect(await judge(() => nameless, { toldCost: null })).toEqual([]);
});

it.each<[string, Parameters<typeof judge>, RegExp]>([
  ["is missing", [() => []], /was answered for \d+ and is not billed/],
  [
    "comes twice",
    [
      (requestId, charge) => [
        { requestId, charge },
        { requestId: uuidv7(), charge, upstreamId: "ask-1" },
      ],
    ],
    /is billed again/,
  ],
  ["is not what was told", [(requestId, cost) => [{ requestId, charge: cost + 1n }]], /its client was told/],
  [
    "is told as it is, and wrong",
    [(requestId, cost) => [{ requestId, charge: cost - 1n }], { toldCost: exactCost(askOf("")) - 1n }],
    /instead of exactly/,
  ],
  ["is another's", [(requestId, charge) => [{ requestId, charge, accountId: uuidv7() }]], /is billed to/],
  ["is nobody's", [() => [{ requestId: uuidv7(), charge: 5n }], { toldCost: null }], /nobody asked for it/],
  [
    "has no name, and nobody was lost",
    [
      (requestId, charge) => [
        { requestId, charge },
        { requestId: uuidv7(), charge: 5n, basis: "recovered" },
      ],
    ],
    /1 charges for 0 requests/,
  ],
  [
    "is of a request that was never served",
    [(requestId, charge) => [{ requestId, charge }], { calls: 0 }],
    /never asked/,
  ],
  ["is free and charged", [(requestId) => [{ requestId, charge: 5n, basis: "free" }], { toldCost: null }], /is free/],
  ["is beyond what is possible", [(requestId) => [{ requestId, charge: 10n ** 8n }]], /more than is possible/],
  [
    "is of an answer that broke and was shown as whole",
    [(requestId, charge) => [{ requestId, charge }], { behaviour: "breaks off" }],
    /as if it were whole/,
  ],
  [
    "leaves a wrong balance",
    [(requestId, charge) => [{ requestId, charge }], { balance: { posted: 7n } }],
    /has 7, not/,
  ],
  ["leaves a hold", [(requestId, charge) => [{ requestId, charge }], { balance: { held: 7n } }], /has 7 held/],
])("says so when a bill %s", async (_what, [bills, options], complaint) => {
  expect((await judge(bills, options)).join("\n")).toMatch(complaint);
});
