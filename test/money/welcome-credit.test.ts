import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listActions } from "../../src/operator/audit-log/operator-actions.ts";
import { MAX_WELCOME_CREDIT, readBillingSettings } from "../../src/billing/settings.ts";
import { postWelcomeCredit } from "../../src/billing/welcome-credit.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { updateSettings } from "../../src/operator/commands/settings.ts";
import { testBackends } from "../setup/test-database.ts";
import { MoneySetup, SOUND } from "./money-setup.ts";

const RUPIAH = 1_000_000n;

describe.each(testBackends())("the welcome credit on the %s database", (backend) => {
  let setup: MoneySetup;
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
  });
  afterAll(() => setup.close());
  const set = (amount: bigint) =>
    updateSettings(
      { database: setup.opened.database, operator: "test" },
      { settings: { welcomeCredit: amount }, reason: "a new year" },
    );
  const post = (accountId: string) => postWelcomeCredit(setup.opened.database, accountId);

  it("is zero before an operator has set it", async () => {
    const accountId = await setup.account(0n);
    expect(await post(accountId)).toBeNull();
    expect(await setup.balance(accountId)).toMatchObject({ posted: 0n });
  });

  it("is given once, for ever, also to simultaneous calls and after a change", async () => {
    await set(5_000n * RUPIAH);
    const accountId = await setup.account(0n);
    const posted = await Promise.all(Array.from({ length: 8 }, () => post(accountId)));
    expect(posted.filter((each) => each?.isNew)).toHaveLength(1);
    await set(7_000n * RUPIAH);
    expect(await post(accountId)).toMatchObject({ isNew: false, amount: 5_000n * RUPIAH });
    expect(await setup.balance(accountId)).toMatchObject({ posted: 5_000n * RUPIAH });
    const later = await setup.account(0n);
    expect(await post(later)).toMatchObject({ isNew: true, amount: 7_000n * RUPIAH });
    const { rows } = await setup.pool.query(
      "SELECT debit, reason FROM posting WHERE credit = $1 AND reference = 'welcome:' || $1::text",
      [later],
    );
    expect(rows).toEqual([{ debit: "00000000-0000-7000-8000-000000000004", reason: "welcome_credit" }]);
    expect(await setup.audit()).toEqual(SOUND);
  });

  it("records its changes with time and operator; setting the same amount changes nothing", async () => {
    const before = (await listActions(setup.pool, { limit: 100 })).length;
    await Promise.all([set(1n), set(2n), set(3n)]);
    const { welcomeCredit } = await readBillingSettings(setup.pool);
    await set(welcomeCredit);
    expect(await listActions(setup.pool, { limit: 100 })).toHaveLength(before + 3);
    await expect(setup.pool.query("UPDATE operator_setting SET value = '9'")).rejects.toThrow("permission denied");
    await expect(setup.asOwner("DELETE FROM operator_setting")).rejects.toThrow("append-only");
  });

  it("has a bound, and is not given to a missing account", async () => {
    await expect(set(MAX_WELCOME_CREDIT + 1n)).rejects.toMatchObject({ code: "limit_exceeded" });
    await expect(set(-1n)).rejects.toMatchObject({ code: "limit_exceeded" });
    await set(MAX_WELCOME_CREDIT);
    await expect(post(uuidv7())).rejects.toMatchObject({ code: "not_found" });
    await set(0n);
    expect(await post(await setup.account(0n))).toBeNull();
  });
});
