// Statements of random histories: requests that are charged above their holds from money that came later, credit notes, refunds
// that leave a debt, collected debts, late charges. A statement has the order of commits, so no balance on it is below zero.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { applyPayment } from "../../src/billing/top-ups/apply-payment.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { postLateUsage } from "../../src/ledger/late-usage.ts";
import { readCsv } from "../dashboard/csv-file.ts";
import { testBackends } from "../setup/test-database.ts";
import { allPages, chance, factsOf, micro, type UsageClient, UsageSetup } from "./usage-setup.ts";
import { admission, settlement, SOUND, type TestProcess } from "./money-setup.ts";
import { creditUsageByOperator } from "../setup/operator-credit.ts";

const ORDER = `
INSERT INTO top_up (id, account_id, idempotency_key, amount, provider, expires_at)
VALUES ($1::uuid, $2, ($1::uuid)::text, $3, 'test', clock_timestamp() + interval '1 hour')`;
const STEPS = 220;
const PER_TOKEN = 5_000n;

describe.each(testBackends())("statements on the %s database", (backend) => {
  const chosen = chance();
  const { seed, whole } = chosen;
  let setup: UsageSetup;
  let process: TestProcess;
  beforeAll(async () => {
    setup = await UsageSetup.create(backend, chosen);
    process = await setup.money.process();
  });
  afterAll(() => setup.money.close());

  async function exported(client: UsageClient) {
    const pieces = await Array.fromAsync(client.exportLedger({}), ({ csv }) => csv);
    return readCsv(Buffer.concat(pieces).toString());
  }

  it("shows a charge above its hold after the top-up that paid it", async () => {
    const { money } = setup;
    const account = await money.account(100_000n);
    const request = admission(account, await money.key(account), 100_000n);
    await process.ledger.admit(request);
    await money.credit(account, 1_000_000n);
    await process.ledger.settle(settlement(account, request.requestId, 60));
    const client = setup.clientOf(account);
    const lines = await exported(client);
    expect(lines.map((line) => line["running_balance_idr"])).toEqual(["0.1", "1.1", "0.8"]);
    expect(lines[2]).toMatchObject({ reason: "usage", id: request.requestId, request_id: request.requestId });
    const pages = await client.listLedgerEntries({});
    expect(pages.entries.map(({ runningBalance }) => runningBalance)).toEqual(["0.8", "1.1", "0.1"]);
  });

  it("never shows a balance below zero, page by page or as a file, in any order of events", async () => {
    const { money } = setup;
    const { database } = process;
    const account = await money.account(200_000n);
    const keyId = await money.key(account);
    const client = setup.clientOf(account);
    const [open, settled]: [string[], string[]] = [[], []];
    const topUps: [topUpId: string, amount: bigint][] = [];
    const take = (from: string[]): string | undefined => from.splice(whole(from.length), 1)[0];
    const deed = (work: Parameters<typeof withTransaction>[1]) => withTransaction(database, work);
    const steps: Record<string, () => Promise<unknown>> = {
      // From a moment ago to minutes ago, so that some are settled more than a minute after they came.
      admit: async () => {
        const requestId = uuidv7(Date.now() - (whole(3) === 0 ? whole(400_000) : whole(50)));
        const request = { ...admission(account, keyId, BigInt(1 + whole(60_000)), 0n), requestId };
        const { outcome } = await process.ledger.admit(request);
        if (outcome === "granted") open.push(requestId);
      },
      // Often above the hold, and above the available money.
      settle: async () => {
        await Promise.all(
          [take(open), whole(2) === 0 ? take(open) : undefined].map(async (requestId) => {
            if (requestId === undefined) return;
            await process.ledger.settle(settlement(account, requestId, whole(40)));
            settled.push(requestId);
          }),
        );
      },
      "top up": async () => {
        const topUpId = uuidv7();
        const amount = BigInt(1 + whole(150_000));
        await money.pool.query(ORDER, [topUpId, account, amount]);
        await applyPayment(database, topUpId, { state: "paid", amount, givenBack: 0n, reference: null });
        topUps.push([topUpId, amount]);
      },
      // Missing money is owed, and collected when money becomes available.
      "charge back": async () => {
        const [topUpId, amount] = topUps.splice(whole(topUps.length), 1)[0] ?? [];
        if (topUpId === undefined || amount === undefined) return;
        await applyPayment(database, topUpId, { state: "charged_back", amount, givenBack: amount, reference: null });
      },
      "credit note": () =>
        deed(async (tx) => {
          const requestId = take(settled);
          if (requestId === undefined) return;
          const { rows } = await tx.query("SELECT FROM usage_record WHERE request_id = $1 AND charge > 0", [requestId]);
          if (rows.length > 0) await creditUsageByOperator(tx, { requestId, amount: null, note: "test", name: null });
        }),
      // As a process that was paused while another one recovered its request.
      "charge late": async () => {
        const requestId = take(open);
        if (requestId === undefined) return;
        await process.ledger.settle({ ...settlement(account, requestId, 0), basis: "recovered", upstream: null });
        await postLateUsage(database, settlement(account, requestId, whole(40)));
      },
    };
    const names = [...Object.keys(steps), "admit", "admit", "admit", "settle", "settle", "settle"];
    for (let step = 0; step < STEPS; step += 1) await steps[names[whole(names.length)] ?? ""]?.();
    for (const requestId of open.splice(0)) await process.ledger.settle(settlement(account, requestId, whole(40)));

    const entries = await setup.ledgerOf(client);
    const lines = await exported(client);
    expect(lines.length, `seed ${seed}`).toBeGreaterThan(STEPS / 10);
    expect(lines.map((line) => [line["id"], line["running_balance_idr"]])).toEqual(
      entries.toReversed().map(({ id, runningBalance }) => [id, runningBalance]),
    );
    for (const line of lines) expect(line["running_balance_idr"], `seed ${seed}, ${line["id"]}`).not.toMatch(/^-/);
    expect(micro(lines.at(-1)?.["running_balance_idr"] ?? "")).toBe((await money.balance(account)).posted);
    const times = lines.map((line) => Date.parse(line["posted_at"] ?? ""));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    // The subject of each: a request or a top-up, and null for the others.
    for (const { reason, requestId, topUpId, id } of entries) {
      const isOfRequest = ["usage", "credit_note", "late_usage"].includes(reason);
      const isOfTopUp = ["top_up", "top_up_charged_back", "receivable_collected"].includes(reason);
      expect([requestId !== "", topUpId !== ""], `${reason} ${id}`).toEqual([isOfRequest, isOfTopUp]);
    }
    expect(new Set(entries.map(({ reason }) => reason)).size, `seed ${seed}`).toBeGreaterThan(4);
    expect(await money.audit()).toEqual(SOUND);
  });

  it("refuses a page token without a position", async () => {
    const client = setup.clientOf(await setup.money.account(1n));
    for (const pageToken of ["2", "1.x.00000000-0000-7000-8000-000000000000", "00000000-0000-7000-8000-000000000000"]) {
      expect(await factsOf(client.listLedgerEntries({ pageToken }))).toMatchObject({
        code: "validation_error",
        details: [{ field: "pageToken" }],
      });
    }
  });

  it("goes on from page to page when a line is settled between two of them", async () => {
    const { money } = setup;
    const account = await money.account(1_000_000_000n);
    const keyId = await money.key(account);
    const client = setup.clientOf(account);
    const slow = { ...admission(account, keyId, 1_000_000n), requestId: uuidv7(Date.now() - 1_000) };
    await process.ledger.admit(slow);
    for (let made = 0; made < 9; made += 1) {
      const request = admission(account, keyId, 1_000_000n);
      await process.ledger.admit(request);
      await process.ledger.settle(settlement(account, request.requestId, 1 + made));
    }
    let pages = 0;
    const entries = await allPages(async (pageToken) => {
      const page = await client.listLedgerEntries({ pageSize: 3, pageToken });
      // It came before all of them and is settled after them: a new first line, which no later page shows.
      if ((pages += 1) === 2) await process.ledger.settle(settlement(account, slow.requestId, 1_000));
      return { items: page.entries, nextPageToken: page.nextPageToken };
    });
    expect(entries.map(({ amount }) => micro(amount))).toEqual([
      ...Array.from({ length: 9 }, (_, made) => -PER_TOKEN * BigInt(1 + made)).toReversed(),
      1_000_000_000n,
    ]);
    let balance = 0n;
    for (const { amount, runningBalance } of entries.toReversed()) {
      expect(micro(runningBalance)).toBe((balance += micro(amount)));
    }
    const [newest] = (await client.listLedgerEntries({ pageSize: 1 })).entries;
    expect(newest).toMatchObject({ id: slow.requestId, reason: "usage" });
    expect(await money.audit({ kind: "incremental" })).toEqual(SOUND);
  });
});
