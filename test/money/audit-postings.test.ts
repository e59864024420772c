// The audit of the accounts of postings, and that an event is posted once.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { testBackends } from "../setup/test-database.ts";
import { MoneySetup, SOUND } from "./money-setup.ts";

describe.each(testBackends())("the audit of postings, on the %s database", (backend) => {
  let setup: MoneySetup;
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
  });
  afterAll(() => setup.close());

  /** The findings of a damage, as check and subject, before its repair. */
  async function found(damage: string, repair: string): Promise<string[][]> {
    await setup.asOwner(damage);
    const { violations } = await setup.audit();
    await setup.asOwner(repair);
    expect(await setup.audit()).toEqual(SOUND);
    return violations.map(({ check, subject }) => [check, subject]);
  }

  it("finds one under another customer's account", async () => {
    const [owner, other] = [await setup.account(5_000n), await setup.account(5_000n)];
    const [{ id }] = (await setup.asOwner(`SELECT id FROM posting WHERE credit = '${owner}'`)) as [{ id: string }];
    const put = (account: string): string => `
      ALTER TABLE posting DISABLE TRIGGER append_only;
      UPDATE posting SET account_id = '${account}' WHERE id = '${id}';
      ALTER TABLE posting ENABLE ALWAYS TRIGGER append_only`;
    expect(await found(put(other), put(owner))).toEqual([
      ["posted = sum of postings, held = sum of open holds, available >= 0", owner],
      ["every posting is under the account that it is about", id],
      ["money that an operator moved has its line in the operators' log", id],
    ]);
  });

  it("finds that a reference may be posted twice", async () => {
    const index =
      "CREATE UNIQUE INDEX posting_reference ON posting (reference, account_id) WHERE reference IS NOT NULL";
    expect(await found("DROP INDEX posting_reference", index)).toEqual([
      ["the database refuses what must never be", "posting.posting_reference"],
    ]);
  });
});
