// An auditor without findings may be blind: here is a wrong bill of each kind, with the expected finding.

import type { Pool } from "pg";
import { expect, it } from "vitest";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { chunk, startScriptedUpstream, stream, wire } from "../gateway/scripted-upstream.ts";
import { type Ask, type Behaviour, exactCost, lowestCost, lowestRecovered } from "./asks.ts";
import { Clients } from "./clients.ts";
import { type Account, Shadow } from "./shadow.ts";

const ACCOUNT: Account = { accountId: uuidv7(), key: "gw_x", credited: 1_000_000_000n, isRich: true };

type Bill = {
  requestId: string;
  charge: bigint;
  basis?: string;
  upstreamId?: string | null;
  accountId?: string;
  isLate?: boolean;
};

/** A ledger with given records. */
function ledgerOf(bills: readonly Bill[], balance: { posted?: bigint; held?: bigint } = {}): Pool {
  const charged = bills.reduce((sum, { charge }) => sum + charge, 0n);
  const state = { id: ACCOUNT.accountId, posted: ACCOUNT.credited - charged, held: 0n, ...balance };
  const records = bills.map(({ requestId, charge, basis = "exact", upstreamId = null, accountId, isLate = false }) => ({
    request_id: requestId,
    account_id: accountId ?? ACCOUNT.accountId,
    upstream_request_id: upstreamId,
    charge,
    basis,
    is_late: isLate,
  }));
  const query = async (text: string) => ({
    rows: text.includes("upstream_request_id") ? records : [{ ...state, records: records.length, charged }],
  });
  return { query } as unknown as Pool;
}

function askOf(id: string, behaviour: Behaviour = "answer", more: Partial<Ask> = {}): Ask {
  const counts = { promptTokens: 40, cachedTokens: 10, completionTokens: 20 };
  return { id, behaviour, stream: false, ...counts, size: "short", pieces: 8, leaves: null, ...more };
}

/** A stream that needs more than its first slab. */
const LONG: Partial<Ask> = { stream: true, size: "long", pieces: 78, completionTokens: 7_800 };

/** One answered request and the ledger's record of it; returns the auditor's findings. */
async function judge(
  bills: (requestId: string, cost: bigint) => readonly Bill[],
  { behaviour, ask: more, balance, toldCost, status = 200, pieces = 0, calls = 1, isCapped = false }: JudgeOptions = {},
): Promise<string[]> {
  const shadow = new Shadow(Date.now() - 1_000);
  shadow.add(ACCOUNT);
  const ask = askOf("ask-1", behaviour, more);
  const requestId = uuidv7();
  shadow.sent(ask, ACCOUNT);
  for (let call = 0; call < calls; call += 1) shadow.called(ask.id);
  const shown = toldCost === undefined ? exactCost(ask) : toldCost;
  shadow.ended(ask, { requestId, status, pieces, toldCost: shown, isCapped });
  await shadow.close(ledgerOf(bills(requestId, exactCost(ask)), balance));
  return shadow.violations;
}

type JudgeOptions = {
  behaviour?: Behaviour;
  ask?: Partial<Ask>;
  status?: number | null;
  isCapped?: boolean;
  pieces?: number;
  balance?: { posted?: bigint; held?: bigint };
  toldCost?: bigint | null;
  calls?: number;
};

it("accepts a right bill, and one for an abandoned request whose id was lost", async () => {
  expect(await judge((requestId, charge) => [{ requestId, charge }])).toEqual([]);
  const nameless = [{ requestId: uuidv7(), charge: 265_000n, basis: "estimated" }];
  expect(await judge(() => nameless, { toldCost: null })).toEqual([]);
});

it("accepts a broken stream at the price of its received part, and one recovered by its progress", async () => {
  const had = lowestCost(askOf(""), 4);
  const broken = { behaviour: "error event", ask: { stream: true }, toldCost: null, pieces: 4 } as const;
  expect(await judge((requestId) => [{ requestId, charge: had, basis: "estimated" }], broken)).toEqual([]);
  const dead = { ask: LONG, toldCost: null, pieces: 75 };
  const recorded = lowestRecovered(askOf("", "answer", LONG), 75);
  expect(recorded).toBeGreaterThan(0n);
  expect(await judge((requestId) => [{ requestId, charge: recorded, basis: "recovered" }], dead)).toEqual([]);
});

it("accepts a settlement after a recovery, at the price of the received or reported part", async () => {
  const late = { basis: "recovered", isLate: true } as const;
  const had = lowestCost(askOf(""), 4);
  const cut = { ask: { stream: true }, toldCost: null, pieces: 4 } as const;
  expect(await judge((requestId) => [{ requestId, charge: had, ...late }], cut)).toEqual([]);
  expect(await judge((requestId, charge) => [{ requestId, charge, ...late }])).toEqual([]);
  const refused = { toldCost: null, status: 503 } as const;
  expect(await judge((requestId) => [{ requestId, charge: 0n, ...late }], refused)).toEqual([]);
});

it.each<[string, Parameters<typeof judge>, RegExp]>([
  [
    "was settled after its recovery for less than was had",
    [
      (requestId) => [{ requestId, charge: lowestCost(askOf(""), 3), basis: "recovered", isLate: true }],
      { ask: { stream: true }, toldCost: null, pieces: 4 },
    ],
    /less than \d+ for what was delivered/,
  ],
  [
    "was settled late, and another's record was no recovery",
    [(requestId, charge) => [{ requestId, charge, isLate: true }]],
    /settled late, and not recovered/,
  ],
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
  ["differs from the shown cost", [(requestId, cost) => [{ requestId, charge: cost + 1n }]], /its client was shown/],
  [
    "is shown as it is, and wrong",
    [(requestId, cost) => [{ requestId, charge: cost - 1n }], { toldCost: exactCost(askOf("")) - 1n }],
    /instead of exactly/,
  ],
  ["is another's", [(requestId, charge) => [{ requestId, charge, accountId: uuidv7() }]], /is billed to/],
  ["belongs to no request", [() => [{ requestId: uuidv7(), charge: 5n }], { toldCost: null }], /no client sent it/],
  [
    "has no request id, and no request was lost",
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
    "gives a whole answer without usage away",
    [(requestId) => [{ requestId, charge: 0n, basis: "estimated" }], { behaviour: "no usage", toldCost: 0n }],
    /less than \d+ for what was delivered/,
  ],
  [
    "gives an answer of absurd usage away",
    [(requestId) => [{ requestId, charge: 0n }], { behaviour: "absurd usage", toldCost: 0n }],
    /less than \d+ for what was delivered/,
  ],
  [
    "is less than what the client has had of a broken stream",
    [
      (requestId) => [{ requestId, charge: lowestCost(askOf(""), 3), basis: "estimated" }],
      { behaviour: "breaks off", ask: { stream: true }, toldCost: null, pieces: 4 },
    ],
    /less than \d+ for what was delivered/,
  ],
  [
    "is free where the client has had pieces",
    [
      (requestId) => [{ requestId, charge: 0n, basis: "free" }],
      { behaviour: "error event", ask: { stream: true }, toldCost: null, pieces: 4 },
    ],
    /is free, and its client has had 4 pieces/,
  ],
  [
    "is missing where the client has had pieces",
    [() => [], { behaviour: "ends early", ask: { stream: true }, toldCost: null, pieces: 4 }],
    /was answered with 4 pieces and is not billed/,
  ],
  [
    "was recovered without the progress of a second slab",
    [(requestId) => [{ requestId, charge: 0n, basis: "recovered" }], { ask: LONG, toldCost: null, pieces: 75 }],
    /less than \d+ for what was delivered/,
  ],
  [
    "is drained, and differs from the upstream's report",
    [
      (requestId, cost) => [{ requestId, charge: cost + 1n, basis: "drained" }],
      { ask: { stream: true }, toldCost: null, status: null },
    ],
    /instead of exactly/,
  ],
  [
    "is of a request that was refused",
    [(requestId) => [{ requestId, charge: 1n, basis: "recovered" }], { toldCost: null, status: 503 }],
    /was answered with 503 and is charged 1/,
  ],
  [
    "is of a call that was perhaps billed and made again",
    [(requestId) => [{ requestId, charge: 0n, basis: "free" }], { behaviour: "resets", toldCost: null, calls: 2 }],
    /was asked 2 times/,
  ],
  [
    "leaves a wrong balance",
    [(requestId, charge) => [{ requestId, charge }], { balance: { posted: 7n } }],
    /has 7, not/,
  ],
  ["leaves a hold", [(requestId, charge) => [{ requestId, charge }], { balance: { held: 7n } }], /has 7 held/],
])("reports a bill that %s", async (_what, [bills, options], complaint) => {
  expect((await judge(bills, options)).join("\n")).toMatch(complaint);
});

it("reports a stream that ends cleanly without its last chunk", async () => {
  const upstream = await startScriptedUpstream();
  const shadow = new Shadow();
  shadow.add(ACCOUNT);
  upstream.run(stream(wire([chunk({ content: "piece 0" })])));
  const url = upstream.baseUrl.replace("/v1", "");
  const clients = new Clients({
    gateways: { choose: () => ({ url }) },
    shadow,
    seed: 1,
    clients: 1,
    perSecond: 1_000,
    account: () => ACCOUNT,
    phase: () => "quiet",
  });
  await expect.poll(() => shadow.violations.join("\n")).toMatch(/ended in order without its end/);
  await clients.end();
  await upstream.stop();
});
