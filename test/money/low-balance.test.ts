import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lookAtLowBalances, readLowBalanceAlert, setLowBalanceAlert } from "../../src/billing/low-balance-alert.ts";
import { MAX_ATTEMPTS } from "../../src/billing/owed-mails.ts";
import { lowBalanceTick } from "../../src/billing/jobs/low-balance.ts";
import { testBackends } from "../setup/test-database.ts";
import { UsageSetup, chance, factsOf } from "./usage-setup.ts";
import { admission, MoneySetup, settlement, type TestProcess } from "./money-setup.ts";

const RUPIAH = 1_000_000n;
const never = new AbortController().signal;

describe.each(testBackends())("the low-balance alert on the %s database", (backend) => {
  let setup: MoneySetup;
  let process: TestProcess;
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
    process = await setup.process();
  });
  afterAll(() => setup.close());

  /** A worker whose mails are kept, and which fails on demand. */
  function worker(language: "id" | "en" = "id") {
    const mails: { to: string; text: string }[] = [];
    let failing = false;
    let during: (() => Promise<void>) | undefined;
    const tick = lowBalanceTick({
      pool: setup.pool,
      readersOf: (accountId) =>
        Promise.resolve([{ id: accountId, email: `${accountId}@test.example`, language, mayChange: true }]),
      topUpUrl: () => "https://saldo.example/",
      mailer: {
        async send(mail) {
          mails.push(mail);
          const happens = during;
          during = undefined;
          await happens?.();
          if (failing) throw new Error("the mail server is away");
        },
      },
    });
    const to = (accountId: string) => mails.filter((mail) => mail.to.startsWith(accountId));
    return {
      to,
      look: () => tick.run(never),
      fail: (isFailing: boolean) => void (failing = isFailing),
      /** What happens while the next mail is being sent. */
      meanwhile: (happens: () => Promise<void>) => void (during = happens),
    };
  }
  /** Spends whole rupiah. */
  async function spend(accountId: string, rupiah: number) {
    const request = admission(accountId, await setup.key(accountId), BigInt(rupiah) * RUPIAH);
    await process.ledger.admit(request);
    await process.ledger.settle(settlement(accountId, request.requestId, rupiah * 200));
  }
  const later = () =>
    setup.asOwner(
      "UPDATE low_balance_alert SET next_attempt_at = clock_timestamp() - interval '1 s' WHERE next_attempt_at IS NOT NULL",
    );
  const set = (accountId: string, rupiah: bigint | null) =>
    setLowBalanceAlert(setup.pool, { accountId, threshold: rupiah === null ? null : rupiah * RUPIAH });

  it.each(["id", "en"] as const)("is in both languages, and first in that of the account: %s", async (language) => {
    const accountId = await setup.account(100n * RUPIAH);
    await set(accountId, 50n);
    const { look, to } = worker(language);
    await look();
    await spend(accountId, 60);
    await look();
    const [indonesian, english] = ["Saldo Anda Rp", "Your balance is Rp"];
    const text = to(accountId)[0]?.text ?? "";
    expect(text).toContain(language === "en" ? indonesian : english);
    expect(text.startsWith(language === "en" ? english : indonesian)).toBe(true);
  });

  it("is sent once when the balance falls below the threshold, and again only after it has risen to it", async () => {
    const accountId = await setup.account(100n * RUPIAH);
    await set(accountId, 50n);
    const { look, to } = worker();
    await look();
    await spend(accountId, 50);
    await look();
    expect(to(accountId), "at the threshold it is not below").toHaveLength(0);
    await spend(accountId, 1);
    for (let looks = 0; looks < 3; looks += 1) await look();
    await spend(accountId, 10);
    await look();
    expect(to(accountId)).toHaveLength(1);
    expect(to(accountId)[0]?.text).toContain("Rp 49.00, below the Rp 50.00");
    await setup.credit(accountId, 10n * RUPIAH);
    await look();
    await spend(accountId, 1);
    await look();
    expect(to(accountId), "it had not risen to it").toHaveLength(1);
    await setup.credit(accountId, 2n * RUPIAH);
    await look();
    await spend(accountId, 1);
    await look();
    expect(to(accountId)).toHaveLength(2);
    expect(await readLowBalanceAlert(setup.pool, accountId)).toMatchObject({
      isBelow: true,
      notifiedAt: expect.any(Date),
    });
  });

  it("is not sent for held money, nor when a threshold is set above the balance", async () => {
    const [held, low] = [await setup.account(100n * RUPIAH), await setup.account(10n * RUPIAH)];
    await set(held, 50n);
    await set(low, 50n);
    const request = admission(held, await setup.key(held), 90n * RUPIAH);
    await process.ledger.admit(request);
    const { look, to } = worker();
    await look();
    await process.ledger.settle(settlement(held, request.requestId, 0));
    await look();
    expect([to(held), to(low)]).toEqual([[], []]);
    await set(held, null);
    await spend(held, 90);
    await look();
    expect(to(held), "turned off").toEqual([]);
    expect(await readLowBalanceAlert(setup.pool, held)).toBeNull();
  });

  it("is sent by one of several simultaneous workers", async () => {
    const accountId = await setup.account(100n * RUPIAH);
    await set(accountId, 50n);
    const workers = [worker(), worker(), worker()];
    await workers[0]?.look();
    await spend(accountId, 60);
    await Promise.all(workers.map(({ look }) => look()));
    expect(workers.flatMap(({ to }) => to(accountId))).toHaveLength(1);
  });

  it("is tried again when the mail server is away, for three days and no more", async () => {
    const accountId = await setup.account(100n * RUPIAH);
    await set(accountId, 50n);
    const { look, to, fail } = worker();
    await spend(accountId, 60);
    fail(true);
    await expect(look()).rejects.toThrow("1 mails could not be sent");
    await look();
    expect(to(accountId), "not at once").toHaveLength(1);
    for (let tries = 1; tries < MAX_ATTEMPTS; tries += 1) {
      await later();
      await expect(look()).rejects.toThrow();
    }
    await later();
    await look();
    expect(to(accountId), "given up").toHaveLength(MAX_ATTEMPTS);
  });

  it("is sent by another when a worker dies with it, and taken back when the balance rises before", async () => {
    const [dying, rising] = [await setup.account(100n * RUPIAH), await setup.account(100n * RUPIAH)];
    const { look, to, fail } = worker();
    for (const accountId of [dying, rising]) {
      await set(accountId, 50n);
      await spend(accountId, 60);
    }
    // A worker that dies has taken the mail and not recorded it as sent: the same as one whose mail server failed.
    fail(true);
    await expect(look()).rejects.toThrow("2 mails");
    fail(false);
    await setup.credit(rising, 60n * RUPIAH);
    await later();
    await look();
    await later();
    await look();
    expect([to(dying), to(rising)].map(({ length }) => length)).toEqual([2, 1]);
  });

  it("is owed again where the balance has risen and fallen while the mail of the first fall was being sent", async () => {
    const accountId = await setup.account(100n * RUPIAH);
    await set(accountId, 50n);
    const { look, to, meanwhile } = worker();
    const other = worker();
    other.fail(true);
    await look();
    await spend(accountId, 60);
    meanwhile(async () => {
      await setup.credit(accountId, 60n * RUPIAH);
      await lookAtLowBalances(setup.pool);
      await spend(accountId, 60);
      await lookAtLowBalances(setup.pool);
    });
    await look();
    expect(to(accountId).length + other.to(accountId).length).toBe(1);
    expect(await readLowBalanceAlert(setup.pool, accountId)).toMatchObject({ isBelow: true, notifiedAt: null });
    // The reader of the first fall's mail is owed that of the second, too.
    await expect(other.look()).rejects.toThrow("1 mails could not be sent");
    expect(other.to(accountId)).toHaveLength(1);
    await later();
    await look();
    await later();
    await look();
    expect(to(accountId)).toHaveLength(2);
    expect(await readLowBalanceAlert(setup.pool, accountId)).toMatchObject({ notifiedAt: expect.any(Date) });
  });

  it.each(["0", "-5", "abc", "1.0000001", "1000000000001"])("refuses the threshold %j", async (threshold) => {
    const usage = await UsageSetup.on(setup, chance());
    const client = usage.clientOf(await setup.account(0n));
    expect(await factsOf(client.setLowBalanceAlert({ threshold }))).toMatchObject({
      code: "validation_error",
      details: [{ field: "threshold" }],
    });
  });

  it("is set, shown and turned off by its owner", async () => {
    const usage = await UsageSetup.on(setup, chance());
    const client = usage.clientOf(await setup.account(0n));
    expect((await client.getLowBalanceAlert({})).alert).toMatchObject({ threshold: "", isBelow: false });
    expect((await client.setLowBalanceAlert({ threshold: "25000.5" })).alert).toMatchObject({
      threshold: "25000.5",
      isBelow: true,
    });
    expect((await client.setLowBalanceAlert({ threshold: "" })).alert).toMatchObject({ threshold: "" });
  });
});
