// A death at each failpoint, and its row of the table in README.md.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { REQUEST_FAILPOINTS, type RequestFailpoint } from "../../src/kernel/failpoint.ts";
import { SOUND } from "../money/money-setup.ts";
import { IS_LONG } from "../setup/long-tests.ts";
import { passLease } from "../setup/pass-lease.ts";
import { runSaldoProcess } from "../setup/saldo-process.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { waitHalfway } from "./load.ts";
import { type Billed, type Customer, type Seen, Service } from "./service.ts";

type Outcome = {
  readonly called: boolean;
  readonly had: "nothing" | "events";
  readonly left: "nothing" | "hold";
  readonly basis: "none" | "recovered" | "exact";
};

const recovered = { left: "hold", basis: "recovered" } as const;
const OUTCOMES: Readonly<Record<RequestFailpoint, Outcome>> = {
  "before-hold-commit": { called: false, had: "nothing", left: "nothing", basis: "none" },
  "after-hold-commit": { called: false, had: "nothing", ...recovered },
  "after-upstream-send": { called: true, had: "nothing", ...recovered },
  "after-first-byte": { called: true, had: "events", ...recovered },
  "after-usage": { called: true, had: "events", ...recovered },
  "before-settle": { called: true, had: "events", ...recovered },
  "mid-settle": { called: true, had: "events", left: "nothing", basis: "exact" },
  "after-settle": { called: true, had: "events", left: "nothing", basis: "exact" },
};

/** A whole answer is not visible before it is billed, so it has no first byte to die at. */
const ONLY_STREAMS: ReadonlySet<RequestFailpoint> = new Set(["after-first-byte"]);
/** Where the short form tries whole answers too: read to their end, and in the middle of their settlement. */
const WHOLE_TOO: ReadonlySet<RequestFailpoint> = new Set(["after-usage", "mid-settle"]);
const DEATHS = REQUEST_FAILPOINTS.flatMap((place) => {
  const isWholeToo = IS_LONG ? !ONLY_STREAMS.has(place) : WHOLE_TOO.has(place);
  return (isWholeToo ? [true, false] : [true]).map((stream) => ({ place, stream }));
});
const BALANCE = 100_000_000n;
/** Charged for the usage that `completion()` and `ordinaryEvents()` report. */
const EXACT_CHARGE = 83_800n;

describe("a process that dies at", () => {
  let opened: TestDatabase;
  let service: Service;
  const resolved: { what: string; customer: Customer; expected: { basis: string; charge: bigint }[] }[] = [];
  beforeAll(async () => {
    opened = await createTestDatabase();
    // Only a demo may be made to die.
    service = await Service.create(opened.url, { DATABASE_URL: opened.url, SALDO_DEMO: "1" });
  });
  afterAll(async () => {
    await service.close();
    await opened.drop();
  });

  it.each(DEATHS)("$place, streaming: $stream", async ({ place, stream }) => {
    const { called, had, left, basis } = OUTCOMES[place];
    const customer = await service.customer(BALANCE);
    const node = await service.node({ SALDO_FAILPOINT: place });
    const halfway = Promise.withResolvers<void>();
    service.upstream.run(waitHalfway(stream ? halfway.promise : Promise.resolve()));
    const seen = await service.ask(node, customer, { stream, onText: () => halfway.resolve() });
    await node.untilEnd();
    expect(await node.stop()).toBeNull();

    expect(seen).toMatchObject({ broken: true, costIdr: null, status: stream && had === "events" ? 200 : null });
    expect(seen.text.includes("Halo")).toBe(stream && had === "events");
    expect(looksComplete(seen)).toBe(false);
    // Messages that a dead process has sent may still be on their way.
    await expect.poll(() => service.upstream.received.length).toBe(called ? 1 : 0);
    const holdsLeft = async (): Promise<number> => (await service.recoverableOf(customer.accountId)).length;
    await expect.poll(holdsLeft, { timeout: 10_000 }).toBe(left === "hold" ? 1 : 0);
    const holds = await service.recoverableOf(customer.accountId);
    const expected = { none: [], exact: [EXACT_CHARGE], recovered: holds }[basis];
    resolved.push({ what: place, customer, expected: expected.map((charge) => ({ basis, charge })) });
  });

  it("any place, is resolved by the next process as the table states, and the next process is soon ready", async () => {
    expect(resolved).toHaveLength(DEATHS.length);
    const startedAt = performance.now();
    const next = await service.nodeHere();
    expect((await fetch(`${next.httpUrl}/readyz`)).status).toBe(200);
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    service.upstream.run(waitHalfway(Promise.resolve()));
    expect(await service.ask(next, await service.customer(BALANCE))).toMatchObject({ status: 200, costIdr: "0.0838" });
    if (!IS_LONG) await passLease(service.database.pool);
    await expect.poll(() => service.openHolds(), { timeout: 90_000, interval: 500 }).toBe(0);
    for (const { what, customer, expected } of resolved) {
      const usage = await service.usageOf(customer.accountId);
      expect(
        usage.map(({ basis, charge }: Billed) => ({ basis, charge })),
        what,
      ).toEqual(expected);
      const charged = expected.reduce((sum, { charge }) => sum + charge, 0n);
      const posted = BALANCE - charged;
      expect(await service.balance(customer.accountId), what).toEqual({ posted, held: 0n, available: posted });
    }
    expect(await service.audit()).toEqual(SOUND);
  }, 120_000);

  it("an unknown place does not start", async () => {
    const settings = { ...service.settings, SALDO_FAILPOINT: "behind-the-moon" };
    expect(await runSaldoProcess(["serve"], settings)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("SALDO_FAILPOINT") as string,
    });
  });

  it("a place does not start on a database of real money", async () => {
    const settings = { ...service.settings, SALDO_DEMO: "0", SALDO_FAILPOINT: "mid-settle" };
    expect(await runSaldoProcess(["serve"], settings)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("SALDO_FAILPOINT") as string,
    });
  });
});

function looksComplete({ text }: Seen): boolean {
  return text.includes("[DONE]") || /"finish_reason":"/.test(text);
}
