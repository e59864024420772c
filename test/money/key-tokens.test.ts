// The tokens of a key in a minute: decided on the locked row of the key, over all processes. Open requests count with the size of their
// holds, ended ones with what they used.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withTransaction } from "../../src/database/transactions.ts";
import { getKey } from "../../src/keys/issued-keys.ts";
import { NO_LIMITS } from "../../src/keys/key-limits.ts";
import { setKeyLimits } from "../../src/keys/set-key-limits.ts";
import { recountOpenRequests } from "../../src/ledger/account-limits.ts";
import type { AdmissionRequest } from "../../src/ledger/ledger.ts";
import { recoverHolds } from "../../src/ledger/recovery.ts";
import { testBackends } from "../setup/test-database.ts";
import { admission, MoneySetup, settlement, SOUND, type TestProcess } from "./money-setup.ts";
import { chooseSeed, seededRandom } from "./random.ts";

const UNIT = 5_000n; // micro-rupiah of one input token

describe.each(testBackends())("the tokens of a key on the %s database", (backend) => {
  let setup: MoneySetup;
  let one: TestProcess;
  let other: TestProcess;
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
    [one, other] = [await setup.process(), await setup.process()];
  });
  afterAll(async () => {
    expect(await setup.audit()).toMatchObject(SOUND);
    await setup.close();
  });

  type Which = { readonly accountId: string; readonly keyId: string };
  const limit = ({ accountId, keyId }: Which, tokenLimit: number | null) =>
    withTransaction(setup.opened.database, (client) =>
      setKeyLimits(client, { accountId, keyId, limits: { ...NO_LIMITS, tokenLimit } }),
    );
  const leftOf = async (which: Which) => (await getKey(setup.opened.database, which)).tokensLeft;
  /** Makes all that was used older, which is what waiting does. */
  const letTimePass = ({ keyId }: Which, interval: string) =>
    setup.pool.query(
      `UPDATE api_key SET token_times = (SELECT coalesce(array_agg(at - $2::interval ORDER BY at), '{}') FROM unnest(token_times) AS at)
       WHERE id = $1`,
      [keyId, interval],
    );

  async function limitedKey(tokenLimit: number, { rateLimit = 0, balance = 100_000n * UNIT } = {}) {
    const accountId = await setup.account(balance);
    const keyId = await setup.key(accountId, rateLimit);
    await limit({ accountId, keyId }, tokenLimit);
    const request = (tokens: number, amount = UNIT) => ({ ...admission(accountId, keyId, amount), tokens });
    return { accountId, keyId, request };
  }

  async function admitted(process: TestProcess, request: AdmissionRequest): Promise<string> {
    expect(await process.ledger.admit(request)).toMatchObject({ outcome: "granted" });
    return request.requestId;
  }

  it("admit exactly as many of a hundred parallel requests as they allow, over two processes", async () => {
    const key = await limitedKey(3_799);
    const asked = Array.from({ length: 100 }, (_, n) => (n % 2 === 0 ? one : other).ledger.admit(key.request(100)));
    const outcomes = Map.groupBy(await Promise.all(asked), ({ outcome }) => outcome);
    expect([outcomes.get("granted")?.length, outcomes.get("token_limited")?.length]).toEqual([37, 63]);
    expect(outcomes.get("token_limited")?.[0]).toEqual({
      outcome: "token_limited",
      retryAfterMs: 5_000,
      limit: 3_799,
      left: 99,
    });
    expect(await leftOf(key)).toBe(99);
  });

  it("are read behind the lock: of two requests that wait together one is admitted", async () => {
    const key = await limitedKey(100);
    const row = await setup.lockRow("account", key.accountId);
    const asked = [one, other].map(({ ledger }) => ledger.admit(key.request(60)));
    await row.queued(2);
    await row.release();
    expect((await Promise.all(asked)).map(({ outcome }) => outcome).toSorted()).toEqual(["granted", "token_limited"]);
  });

  it("are corrected to what was used when a request ends, and free a minute after that", async () => {
    const key = await limitedKey(1_000);
    const first = await admitted(one, key.request(900));
    expect(await other.ledger.admit(key.request(101))).toMatchObject({ outcome: "token_limited", left: 100 });
    const used = {
      outputTokens: 50,
      inputTokensCached: 30,
      otherTokens: { cacheWrite: 20 },
      cost: 1_378_500n,
    };
    await one.ledger.settle({ ...settlement(key.accountId, first, 100), ...used });
    expect(await leftOf(key)).toBe(800);
    expect(await other.ledger.admit(key.request(801))).toMatchObject({ outcome: "token_limited", left: 800 });
    const second = key.request(800);
    expect(await other.ledger.admit(second)).toMatchObject({ rate: { tokens: { limit: 1_000, remaining: 0 } } });
    await letTimePass(key, "30 s");
    expect(await leftOf(key)).toBe(0);
    await letTimePass(key, "31 s");
    expect(await leftOf(key)).toBe(200);
    await other.ledger.settle(settlement(key.accountId, second.requestId, 0));
    expect(await leftOf(key)).toBe(1_000);
  });

  it("count a request that used more than its size with all of it", async () => {
    const key = await limitedKey(1_000);
    await one.ledger.settle(settlement(key.accountId, await admitted(one, key.request(10)), 1_500));
    expect(await leftOf(key)).toBe(0);
    expect(await one.ledger.admit(key.request(1))).toMatchObject({ outcome: "token_limited", left: 0 });
    await letTimePass(key, "61 s");
    expect(await one.ledger.admit(key.request(1_000))).toMatchObject({ outcome: "granted" });
  });

  it("name the moment at which enough of them are free", async () => {
    const key = await limitedKey(1_000);
    for (const [tokens, before] of [
      [400, "0 s"],
      [300, "40 s"],
      [200, "10 s"],
    ] as const) {
      await letTimePass(key, before);
      await one.ledger.settle(settlement(key.accountId, await admitted(one, key.request(tokens)), tokens));
    }
    // 900 are used: 400 fifty seconds ago or so, and 300 ten seconds ago.
    const waitFor = async (tokens: number) => {
      const refused = await one.ledger.admit(key.request(tokens));
      return refused.outcome === "token_limited" ? refused.retryAfterMs : refused.outcome;
    };
    const times = "SELECT array_length(token_times, 1) AS seconds FROM api_key WHERE id = $1";
    expect((await setup.pool.query(times, [key.keyId])).rows).toEqual([{ seconds: 3 }]);
    expect(await waitFor(500)).toBeLessThanOrEqual(11_000);
    expect(await waitFor(501)).toBeGreaterThan(20_000);
    expect(await waitFor(1_001)).toBe(60_000);
    expect(await waitFor(100)).toBe("granted");
    // Waiting does not help while a request runs that needs as much.
    expect(await waitFor(1_000)).toBe(5_000);
  });

  it("take no slot of the rate window where they refuse, and are not taken where money refuses", async () => {
    const key = await limitedKey(100, { rateLimit: 5, balance: 2n * UNIT });
    expect(await one.ledger.admit(key.request(101))).toMatchObject({ outcome: "token_limited" });
    expect(await one.ledger.admit(key.request(50))).toMatchObject({ outcome: "granted", rate: { remaining: 4 } });
    expect(await one.ledger.admit(key.request(10, 5n * UNIT))).toMatchObject({ outcome: "refused" });
    expect(await leftOf(key)).toBe(50);
  });

  it("of a request with a name are those of its first run", async () => {
    const key = await limitedKey(100);
    const once = { name: "satu", bodyDigest: Buffer.alloc(32) };
    expect(await one.ledger.admit({ ...key.request(101), once })).toMatchObject({
      outcome: "token_limited",
      left: 100,
    });
    const request = { ...key.request(60), once };
    expect(await one.ledger.admit(request)).toMatchObject({
      outcome: "granted",
      rate: { tokens: { limit: 100, remaining: 40 } },
    });
    expect(await one.ledger.admit({ ...key.request(10), once })).toEqual({ outcome: "running" });
    expect(await leftOf(key)).toBe(40);
  });

  it("are given back by recovery, but for what was recorded of the dead process's requests", async () => {
    const sleeper = await setup.process();
    const key = await limitedKey(1_000);
    const requestId = await admitted(sleeper, key.request(600, 20n * UNIT));
    const progress = { amount: 0n, leastAmount: 0n, inputTokens: 5, cachedTokens: 3, outputTokens: 2 };
    await sleeper.ledger.extend({ accountId: key.accountId, requestId, ...progress });
    await setup.pool.query("UPDATE process SET dead_at = clock_timestamp() WHERE id = $1", [sleeper.lease.processId]);
    expect(await recoverHolds(setup.pool)).toBe(1);
    expect(await leftOf(key)).toBe(990);
  });

  it("are counted again where the version before has recovered a hold without them", async () => {
    const key = await limitedKey(1_000);
    await admitted(one, key.request(400));
    await setup.pool.query("UPDATE api_key SET tokens_held = tokens_held + 7 WHERE id = $1", [key.keyId]);
    expect(JSON.stringify(await setup.audit())).toContain(
      "what is held of a key's tokens is the sum of its open holds",
    );
    const recount = () =>
      withTransaction(setup.opened.database, (client) => recountOpenRequests(client, key.accountId));
    expect(await recount()).toMatchObject({ isChanged: true });
    expect(await leftOf(key)).toBe(600);
    expect(await recount()).toMatchObject({ isChanged: false });
  });

  it("count from when the limit was set, and stay sound where it is taken away and set again", async () => {
    const key = await limitedKey(1_000);
    const running = await admitted(one, key.request(400));
    await limit(key, null);
    const free = await admitted(one, key.request(5_000));
    expect(await leftOf(key)).toBeNull();
    await limit(key, 500);
    expect(await leftOf(key)).toBe(100);
    await one.ledger.settle(settlement(key.accountId, free, 5_000));
    expect(await leftOf(key)).toBe(100);
    await one.ledger.settle(settlement(key.accountId, running, 0));
    expect(await leftOf(key)).toBe(500);
  });

  it("refuse a process of the version before by its own words", async () => {
    const key = await limitedKey(1_000);
    await admitted(one, key.request(1_000));
    const former = "SELECT outcome, wait_ms FROM admit_request($1, $2, $3, $4, 1, 1, 'm', 1, 1, 1, NULL)";
    const { requestId } = key.request(0);
    const values = [key.accountId, key.keyId, requestId, one.lease.processId];
    expect((await setup.pool.query(former, values)).rows).toEqual([
      { outcome: "limited", wait_ms: expect.any(Number) },
    ]);
  });

  it("are never exceeded by what is held and used, whatever two processes do at the same time", async () => {
    const random = seededRandom(chooseSeed());
    const key = await limitedKey(2_000);
    const open = new Map<string, number>();
    const step = async () => {
      const process = random() < 0.5 ? one : other;
      const [running] = open;
      if (running !== undefined && random() < 0.5) {
        const [requestId, tokens] = running;
        open.delete(requestId);
        await process.ledger.settle(settlement(key.accountId, requestId, Math.floor(random() * tokens)));
        return;
      }
      const tokens = 1 + Math.floor(random() * 400);
      const request = key.request(tokens);
      const { outcome } = await process.ledger.admit(request);
      if (outcome === "granted") open.set(request.requestId, tokens);
    };
    for (let round = 0; round < 40; round += 1) {
      await Promise.all(Array.from({ length: 12 }, step));
      const state = `SELECT tokens_held::int AS held, tokens_settled(token_times, token_counts, clock_timestamp())::int AS used
        FROM api_key WHERE id = $1`;
      const [row] = (await setup.pool.query<{ held: number; used: number }>(state, [key.keyId])).rows;
      expect(row?.held).toBe([...open.values()].reduce((sum, tokens) => sum + tokens, 0));
      expect((row?.held ?? 0) + (row?.used ?? 0)).toBeLessThanOrEqual(2_000);
      if (round % 10 === 9) await letTimePass(key, "30 s");
    }
  });
});
