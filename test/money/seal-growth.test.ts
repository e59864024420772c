// What a seal costs: the accounts that have something new, and what is above them in the tree. And what a version before has signed stays
// right.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sha256 } from "../../src/billing/proof/chain.ts";
import { activeAccounts } from "../../src/billing/proof/line-store.ts";
import { GrowingTree, leafHash, merkleRoot } from "../../src/billing/proof/merkle.ts";
import { foldWindow, readLeaves, sealDays } from "../../src/billing/proof/seal.ts";
import {
  addRoot,
  addSeal,
  lastWindow,
  latestSeal,
  lookOf,
  openWindow,
  readRoot,
  type SignedRoot,
} from "../../src/billing/proof/seal-store.ts";
import { proofKey, signByAll } from "../../src/billing/proof/signing.ts";
import { exportStatement } from "../../src/billing/proof/statement.ts";
import { addPlaces } from "../../src/billing/proof/tree-store.ts";
import { levelsOf } from "../../src/billing/proof/tree.ts";
import { verifyStatement } from "../../src/billing/proof/verify.ts";
import { billingDay, DAY_MS } from "../../src/kernel/clock.ts";
import { systemAccounts } from "../../src/ledger/system-accounts.ts";
import { testBackends } from "../setup/test-database.ts";
import { MoneySetup, SOUND } from "./money-setup.ts";
import { recordingPool, rowsRead } from "./rows-read.ts";

const KEY = proofKey("a secret of a test that signs the roots of its books");

describe("the tree in memory", () => {
  it("has the root of all leaves, however they come", () => {
    const tree = new GrowingTree();
    const leaves: Buffer[] = [];
    for (let count = 1; count <= 70; count += 1) {
      tree.set(leaves.length, leafHash(`new ${count}`));
      leaves.push(leafHash(`new ${count}`));
      const changed = (count * 7) % leaves.length;
      leaves[changed] = leafHash(`changed ${count}`);
      tree.set(changed, leafHash(`changed ${count}`));
      expect(tree.root(count)).toEqual(merkleRoot(leaves));
      expect(tree.root(count + 1)).toBeUndefined();
    }
    const gap = new GrowingTree();
    gap.set(0, leafHash("a"));
    gap.set(2, leafHash("c"));
    expect(gap.root(3)).toBeUndefined();
    expect([1, 16, 17, 256, 257].map(levelsOf)).toEqual([1, 1, 2, 2, 3]);
  });
});

describe.each(testBackends())("growing seals on the %s database", (backend) => {
  let setup: MoneySetup;
  beforeEach(async () => {
    setup = await MoneySetup.create(backend);
  });
  afterEach(() => setup.close());

  const seal = (days: number, pool = setup.pool) =>
    sealDays(pool, { keys: [KEY], share: 1, nowMs: Date.now() + days * DAY_MS });
  /** Credits new accounts, as if so many days had passed. */
  const accounts = async (count: number, days = 0): Promise<string[]> => {
    const rows = (await setup.asOwner(`
      WITH made AS (INSERT INTO account (id, posted) SELECT new_uuidv7(), 7 FROM generate_series(1, ${count}) RETURNING id),
      paid AS (INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason, posted_at)
        SELECT id, new_uuidv7(), new_uuidv7(), 'IDR/6', '${systemAccounts.promotions}', id, 7, 'demo_credit', clock_timestamp() + interval '${days} days' FROM made)
      SELECT id FROM made ORDER BY id`)) as { id: string }[];
    return rows.map(({ id }) => id);
  };
  const credit = (account: string, days: number) =>
    setup.asOwner(`INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason, posted_at)
      VALUES ('${account}', new_uuidv7(), new_uuidv7(), 'IDR/6', '${systemAccounts.promotions}', '${account}', 5, 'demo_credit', clock_timestamp() + interval '${days} days');
      UPDATE account SET posted = posted + 5 WHERE id = '${account}'`);
  const verified = async (accountId: string, through?: string) =>
    verifyStatement(exportStatement(setup.pool, { accountId, ...(through && { through }) }), { key: KEY.publicKey });
  const textOf = (root: SignedRoot | null) =>
    JSON.parse(root?.text ?? "{}") as { accounts: number; root: string; day: string };

  it("reads as many rows for one account among many as among few", async () => {
    const read: Record<string, number>[] = [];
    for (const [count, days] of [
      [40, 0],
      [460, 6],
    ] as const) {
      const [first = ""] = await accounts(count, days);
      await seal(days + 2);
      await credit(first, days + 2.5);
      const { pool, statements } = recordingPool(setup.pool);
      const root = await seal(days + 5, pool);
      expect(textOf(root).accounts).toBe(count === 40 ? 40 : 500);
      read.push(await rowsRead(setup.opened.database, statements));
      expect(await verified(first)).toMatchObject({ ok: true, problems: [] });
    }
    const [few = {}, many = {}] = read;
    // One leaf of sixteen, and one level of nodes more.
    expect(many["account_seal"]).toBeLessThanOrEqual((few["account_seal"] ?? 0) + 16);
    expect(many["proof_place"]).toBeLessThanOrEqual((few["proof_place"] ?? 0) + 16);
    expect(many["proof_node"]).toBeLessThan(80);
    expect(many["usage_record"] ?? 0).toBe(0);
    // One pass over the accounts; how many changed since the window before is what the lines are looked for in.
    expect(many["account"]).toBeLessThanOrEqual(500 + 20);
    expect((await setup.audit()).violations).toEqual([]);
  }, 60_000);

  it("gives every account of every seal a path to the root that was signed then", async () => {
    const first = await accounts(20);
    const one = await seal(2);
    const second = await accounts(30, 3);
    await credit(first[3] ?? "", 3);
    await credit(first[17] ?? "", 3);
    const two = await seal(5);
    await accounts(250, 6);
    await credit(second[29] ?? "", 6);
    const three = await seal(8);
    expect([one, two, three].map((root) => textOf(root).accounts)).toEqual([20, 50, 300]);
    const roots = [one, two, three].map(textOf);
    for (const account of [first[0], first[3], first[17], second[0], second[29]])
      for (const root of roots.slice(second.includes(account ?? "") ? 1 : 0)) {
        const statement = await verified(account ?? "", root.day);
        expect(statement, `${account} in ${root.day}`).toMatchObject({ ok: true, problems: [], root: root.root });
      }
    expect(await setup.audit()).toEqual(SOUND);
  }, 60_000);

  it("keeps right what a version without a stored tree has sealed, and goes on from there", async () => {
    const before = await accounts(19);
    const old = await sealAsBefore(2);
    expect(textOf(old)).not.toHaveProperty("tree");
    expect(await verified(before[7] ?? "")).toMatchObject({ ok: true, problems: [] });
    await accounts(3, 3);
    await credit(before[7] ?? "", 3);
    const next = await seal(5);
    expect(textOf(next)).toMatchObject({ tree: 2, accounts: 22 });
    // A node of the version before seals a day while nodes are exchanged.
    await credit(before[2] ?? "", 6);
    await sealAsBefore(8);
    await credit(before[9] ?? "", 9);
    const last = await seal(11);
    expect(textOf(last)).toMatchObject({ tree: 2, accounts: 22 });
    for (const account of before)
      for (const root of [old, next, last])
        expect(await verified(account, textOf(root).day)).toMatchObject({ ok: true, problems: [] });
    expect(await setup.audit()).toEqual(SOUND);
  }, 60_000);

  it("goes on behind a sealing that gave places and put no root", async () => {
    const first = await accounts(3);
    await seal(2);
    const later = await accounts(4, 3);
    // It had sorted those that it knew; one with a smaller id came behind it.
    await addPlaces(setup.pool, first.length, later.toSorted().slice(1));
    const root = await seal(5);
    expect(textOf(root)).toMatchObject({ tree: 2, accounts: 7 });
    for (const account of [...first, ...later])
      expect(await verified(account)).toMatchObject({ ok: true, problems: [] });
    expect(await setup.audit()).toEqual(SOUND);
  }, 60_000);

  it("signs nothing where a place is that of an account without anything new", async () => {
    const [one = ""] = await accounts(2);
    await seal(2);
    const [stranger] = (await setup.asOwner("INSERT INTO account (id) VALUES (new_uuidv7()) RETURNING id")) as {
      id: string;
    }[];
    await addPlaces(setup.pool, 2, [stranger?.id ?? ""]);
    await credit(one, 4);
    await expect(seal(5)).rejects.toThrow(/places of the accounts of seal/);
  }, 60_000);

  it("finds a posting of our own accounts that was changed after it was sealed", async () => {
    const [account = ""] = await accounts(1);
    const [posting] = (await setup.asOwner(`
      INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason, note)
      VALUES ('${account}', new_uuidv7(), new_uuidv7(), 'IDR/6', '${systemAccounts.providerFees}', '${systemAccounts.providerClearing}', 3, 'provider_fee', 'x')
      RETURNING id`)) as { id: string }[];
    const id = posting?.id ?? "";
    const root = await seal(2);
    expect(textOf(root)).toHaveProperty("house");
    const found = async () =>
      (await setup.audit()).violations.filter(
        ({ check }) => check === "the postings between our own accounts are those that were sealed",
      );
    expect(await found()).toEqual([]);
    await setup.asOwner(`ALTER TABLE posting DISABLE TRIGGER USER; UPDATE posting SET amount = 4 WHERE id = '${id}'`);
    expect(await found()).toMatchObject([
      { subject: id, detail: expect.stringContaining("was changed or added") as string },
      {},
    ]);
    await setup.asOwner(`DELETE FROM posting WHERE id = '${id}'`);
    expect(await found()).toMatchObject([{ detail: expect.stringContaining("line 1 of 1") as string }]);
    // Its seal was made to fit: the root that was signed has another digest.
    const empty = sha256("saldo house").toString("hex");
    await setup.asOwner(
      `ALTER TABLE house_seal DISABLE TRIGGER USER; UPDATE house_seal SET lines = 0, digest = '\\x${empty}', marks = ''`,
    );
    expect(await found()).toEqual([]);
    expect((await setup.audit()).violations.map(({ detail }) => detail)).toContain(
      "the chain of the house has another digest",
    );
  });

  /** Seals as the version without a stored tree did. */
  async function sealAsBefore(days: number): Promise<SignedRoot> {
    const look = lookOf(setup.pool);
    const last = await lastWindow(look);
    const day = billingDay(Date.now() + (days - 2) * DAY_MS);
    const untilMicros = BigInt(Date.parse(`${day}T17:00:00Z`)) * 1_000n;
    const window = {
      seal: (last?.seal ?? 0) + 1,
      fromMicros: last?.untilMicros ?? 0n,
      untilMicros,
      day,
      hasRoot: false,
    };
    await openWindow(setup.pool, window);
    const before = last && (await readRoot(look, last.seal));
    for await (const accountId of activeAccounts(look, window)) {
      const sealed = await foldWindow(look, accountId, {
        window,
        before: await latestSeal(look, accountId, window.seal - 1),
      });
      await addSeal(setup.pool, sealed);
    }
    const { hashes } = await readLeaves(look, window.seal);
    const text = JSON.stringify({
      saldo_proof: 1,
      seal: window.seal,
      day,
      until: new Date(Number(untilMicros / 1_000n)).toISOString(),
      accounts: hashes.length,
      root: merkleRoot(hashes).toString("hex"),
      previous: before === undefined ? null : sha256(before.text).toString("hex"),
    });
    const root = { seal: window.seal, text, signatures: signByAll([KEY], text) };
    await addRoot(setup.pool, root);
    return root;
  }
});
