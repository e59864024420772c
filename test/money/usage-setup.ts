// Usage for the tests of its readers: random requests that the ledger settles, and the service as a caller reaches it.

import { UNRECORDED } from "../../src/database/record-change.ts";
import { ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { expect } from "vitest";
import { ErrorFactsSchema } from "#gen/saldo/errors/v1/errors_pb.ts";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { costOf } from "../../src/billing/cost.ts";
import { createBillingService } from "../../src/billing/service.ts";
import { billingDay, startOfBillingDay } from "../../src/kernel/clock.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { IDR, parseMoney } from "../../src/kernel/money.ts";
import type { OtherTokens, PriceSnapshot } from "../../src/kernel/token-prices.ts";
import type { UsageBasis } from "../../src/ledger/ledger.ts";
import { postLateUsage } from "../../src/ledger/late-usage.ts";
import { createOpenInterceptors } from "../../src/transport/calls/interceptors.ts";
import { createLogMemory } from "../transport/fakes.ts";
import type { TestBackend } from "../setup/test-servers.ts";
import { chooseSeed, seededRandom } from "./random.ts";
import { admission, MoneySetup, PRICES, settlement, type TestProcess } from "./money-setup.ts";

export const HOUR_MS = 3_600_000;
export const MODELS = ["acme/large", "acme/small:free", "=cmd|' /C calc'!A0"];
/** Prices of every kind, of long contexts too. */
export const ALL_PRICES: PriceSnapshot = {
  ...PRICES,
  other: {
    cacheWrite: 6_250_000_000n,
    cacheWrite1h: 10_000_000_001n,
    audioInput: 40_000_000_000n,
    imageInput: 8_000_000_003n,
    imageOutput: 30_000_000_000n,
    perRequest: 1_000n,
    longContext: [{ above: 900, input: 10_000_000_000n, output: 22_500_000_000n, cacheHit: 1_900_000_000n }],
  },
};
const RECOVERED = `
SELECT FROM usage_record WHERE account_id = $1 AND request_id = $2 AND basis = 'recovered' AND other_prices IS NULL`;
const BASES: readonly UsageBasis[] = ["exact", "drained", "estimated", "recovered", "free"];
/** More pages than any test has. */
const MOST_PAGES = 400;

// In the order of transport/calls/: errors arrive with their facts.
const interceptors = createOpenInterceptors({ logger: createLogMemory().logger });

/** Micro-rupiah of a decimal text, also below zero. */
export function micro(decimal: string): bigint {
  const { units } = parseMoney(decimal.replace("-", ""), IDR);
  return decimal.startsWith("-") ? -units : units;
}

/** The facts of the error that ends a call. */
export async function factsOf(call: Promise<unknown>) {
  const error = await call.then(
    () => null,
    (thrown: unknown) => ConnectError.from(thrown),
  );
  return error?.findDetails(ErrorFactsSchema)[0];
}

/** Random choices that a seed repeats. */
export function chance() {
  const seed = chooseSeed();
  const random = seededRandom(seed);
  const whole = (below: number): number => Math.floor(random() * below);
  const one = <Item>(items: readonly Item[]): Item => items[whole(items.length)] as Item;
  return { seed, whole, one };
}
export type Chance = ReturnType<typeof chance>;

export class UsageSetup {
  /** The newest midnight in Jakarta that is at least two hours ago. */
  readonly midnightMs = startOfBillingDay(billingDay(Date.now() - 2 * HOUR_MS));
  readonly money: MoneySetup;
  readonly #process: TestProcess;
  readonly #chance: Chance;

  private constructor(money: MoneySetup, process: TestProcess, chosen: Chance) {
    this.money = money;
    this.#process = process;
    this.#chance = chosen;
  }

  static async create(backend: TestBackend, chosen: Chance): Promise<UsageSetup> {
    return UsageSetup.on(await MoneySetup.create(backend), chosen);
  }

  /** On money that is set up already. */
  static async on(money: MoneySetup, chosen: Chance): Promise<UsageSetup> {
    return new UsageSetup(money, await money.process(), chosen);
  }

  /** The service as an account's caller reaches it. */
  clientOf(accountId: string) {
    const service = createBillingService({
      database: this.money.opened.database,
      accountOf: () => accountId,
      recordChangeOf: () => UNRECORDED,
      visibleKeysOf: () => Promise.resolve(null),
    });
    return createClient(
      BillingService,
      createRouterTransport((router) => router.service(BillingService, service, { interceptors })),
    );
  }

  /** Settles a request of a given time; its cost follows from its tokens. */
  async use(accountId: string, keyId: string, atMs: number): Promise<string> {
    const { whole, one } = this.#chance;
    const { ledger } = this.#process;
    const prices = one([PRICES, ALL_PRICES]);
    const request = {
      ...admission(accountId, keyId, 10_000_000n),
      requestId: uuidv7(atMs),
      model: one(MODELS),
      prices,
    };
    expect(await ledger.admit(request)).toMatchObject({ outcome: "granted" });
    const basis = one(BASES);
    const isFree = basis === "free";
    const counts = {
      inputTokensUncached: isFree ? 0 : whole(1_000),
      inputTokensCached: isFree ? 0 : whole(2) * whole(1_000),
      outputTokens: isFree ? 0 : whole(300),
      otherTokens: isFree || whole(2) === 0 ? null : this.#otherTokens(),
    };
    const cost = costOf(counts, prices);
    const failure = { code: "upstream_busy", inStream: true } as const;
    const metering = one([null, { rules: ["cached_assumed"] }, { rules: ["a", "b"], reported: counts }, { failure }]);
    await ledger.settle({ ...settlement(accountId, request.requestId, 0), ...counts, cost, basis, metering });
    return request.requestId;
  }

  /** Charges more for a request whose process died; requests with another basis are left alone. */
  async chargeLate(accountId: string, requestId: string): Promise<void> {
    const { rows } = await this.money.pool.query(RECOVERED, [accountId, requestId]);
    if (rows[0] === undefined) return;
    // So many tokens of input that it cost more than recovery has charged.
    const more = settlement(accountId, requestId, 2_000 + this.#chance.whole(1_000));
    await postLateUsage(this.money.opened.database, more);
  }

  #otherTokens(): OtherTokens {
    const { whole } = this.#chance;
    const [cacheWrite, cacheWrite1h, audioInput, imageInput, imageOutput] = Array.from({ length: 5 }, () => whole(100));
    return { cacheWrite, cacheWrite1h, audioInput, imageInput, imageOutput } as Required<OtherTokens>;
  }

  /** All lines of a ledger, page by page, with every running balance compared with the lines below it. */
  async ledgerOf(client: UsageClient) {
    const { whole, seed } = this.#chance;
    const entries = await allPages(async (pageToken) => {
      const page = await client.listLedgerEntries({ pageSize: 1 + whole(30), pageToken });
      return { items: page.entries, nextPageToken: page.nextPageToken };
    });
    let balance = 0n;
    for (const entry of entries.toReversed()) {
      balance += micro(entry.amount);
      expect(micro(entry.runningBalance), `seed ${seed}, ${entry.id}`).toBe(balance);
      expect(balance >= 0n, `seed ${seed}, ${entry.id}: ${balance} is not below zero`).toBe(true);
    }
    return entries;
  }
}
export type UsageClient = ReturnType<UsageSetup["clientOf"]>;

/** The common fields of all pages. */
export async function allPages<Item>(
  read: (pageToken: string) => Promise<{ items: readonly Item[]; nextPageToken: string }>,
): Promise<Item[]> {
  const all: Item[] = [];
  for (let pageToken = "", pages = 0; pages < MOST_PAGES; pages += 1) {
    const page = await read(pageToken);
    all.push(...page.items);
    if (page.nextPageToken === "") return all;
    pageToken = page.nextPageToken;
  }
  throw new Error("the list does not end");
}
